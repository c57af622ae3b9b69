import Glibc

/// Reads small files whole.
enum BoundedFile {
    /// The bytes of a regular file, or nil when it is absent, unreadable, something else, or longer than
    /// `limit` bytes.
    static func read(_ path: String, limit: Int) -> [UInt8]? {
        // Non-blocking, so that a named pipe does not hold us.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var facts = stat()
        guard unsafe fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { return nil }
        guard facts.st_size <= limit else { return nil }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16 * 1024)
        while bytes.count <= limit {
            let count = unsafe Glibc.read(descriptor, &buffer, buffer.count)
            if count == 0 { return bytes }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return nil }
            bytes += buffer[..<count]
        }
        return nil
    }
}
