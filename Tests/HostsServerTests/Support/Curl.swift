import Foundation
import Glibc

/// Debian's curl, as people use it with the socket.
enum Curl {
    /// Runs it to its end and gives the body that it got.
    static func get(_ arguments: [String], _ server: ServerFixture) async throws -> String {
        let output = server.path + ".out.\(UInt32.random(in: 0...UInt32.max))"
        defer { unlink(output) }
        let words =
            ["curl", "-sS", "--max-time", "300", "--unix-socket", server.path, "-o", output] + arguments
        let status = await Client.blocking { () -> Int32 in
            var argv: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
            argv.append(nil)
            defer { for word in argv { free(word) } }
            var pid = pid_t()
            guard posix_spawn(&pid, "/usr/bin/curl", nil, nil, argv, environ) == 0 else { return -1 }
            var status: Int32 = -1
            while waitpid(pid, &status, 0) < 0, errno == EINTR {}
            return status
        }
        guard status == 0 else { throw Client.Failure(text: "curl ended with \(status)") }
        return try String(contentsOfFile: output, encoding: .utf8)
    }
}
