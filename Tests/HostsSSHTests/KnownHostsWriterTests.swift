import Glibc
import HostsModel
import HostsTestSupport
import Testing

@testable import HostsSSH

@Suite struct KnownHostsWriterTests {
    private static let key: PublicKey? = {
        var writer = SSHWriter()
        writer.string(Array("ssh-ed25519".utf8))
        writer.string([UInt8](repeating: 1, count: 32))
        return PublicKey(blob: writer.bytes)
    }()

    private static func writer(_ name: String = "host") throws -> KnownHostsWriter {
        KnownHostsWriter(name: name, key: try #require(key), isHashed: false)
    }

    /// Why a key was not added; nil when it was.
    private func failure(_ path: String) throws -> KnownHostsWriter.Failure? {
        let writer = try Self.writer()
        do throws(KnownHostsWriter.Failure) {
            try writer.append(to: path)
            return nil
        } catch {
            return error
        }
    }

    @Test func `a missing folder and file are made for their owner only`() throws {
        let folder = try TemporaryFolder()
        #expect(try failure(folder.path("ssh/known_hosts")) == nil)
        #expect(try folder.mode(of: "ssh") == 0o700)
        #expect(try folder.mode(of: "ssh/known_hosts") == 0o600)
        #expect(try folder.read("ssh/known_hosts").hasPrefix("host ssh-ed25519 AAAA"))
        #expect(try folder.names(in: "ssh") == ["known_hosts"])
    }

    @Test func `a file keeps its mode, and what stood there`() throws {
        let folder = try TemporaryFolder()
        try folder.write("known_hosts", "# mine\r\nother ssh-ed25519 AAAA", mode: 0o644)
        #expect(try failure(folder.path("known_hosts")) == nil)
        #expect(try folder.mode(of: "known_hosts") == 0o644)
        let text = try folder.read("known_hosts")
        #expect(text.hasPrefix("# mine\r\nother ssh-ed25519 AAAA\nhost ssh-ed25519 "))
        #expect(text.hasSuffix("\n"))
    }

    @Test func `a link to a file that is still to be made stays a link`() throws {
        let folder = try TemporaryFolder()
        try folder.link("known_hosts", to: "dots/first")
        try folder.makeFolder("dots")
        try folder.link("dots/first", to: folder.path("dots/second"))
        #expect(try failure(folder.path("known_hosts")) == nil)
        #expect(try folder.names(in: "dots") == ["first", "second"])
        #expect(try folder.read("dots/second").hasPrefix("host "))
        for name in ["known_hosts", "dots/first"] {
            var status = stat()
            #expect(lstat(folder.path(name), &status) == 0)
            #expect(status.st_mode & S_IFMT == S_IFLNK)
        }
    }

    @Test func `what cannot be written is said with its place and the reason`() throws {
        let folder = try TemporaryFolder()
        try folder.link("circle", to: "circle")
        #expect(
            try failure(folder.path("circle"))
                == KnownHostsWriter.Failure(
                    path: folder.path("circle"), detail: "Too many levels of symbolic links"))
        #expect(
            try failure(folder.path("a/b/known_hosts"))
                == KnownHostsWriter.Failure(path: folder.path("a/b"), detail: "No such file or directory"))
        // No file can be made there, not even by root.
        let read = try failure("/proc/known_hosts")
        #expect(read?.path == "/proc/known_hosts")
        #expect(read?.detail.isEmpty == false)
        #expect(try failure("/dev/full")?.detail.contains("cannot be read") == true)
        #expect(try failure("/dev/null") == nil)
    }

    @Test func `a disk that is full costs nothing but the new key`() async {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder()
            let text = String(repeating: "# a long file\n", count: 40)
            try folder.write("known_hosts", text)
            // A write beyond the limit fails, as on a disk without room; its signal would end the process.
            signal(SIGXFSZ, SIG_IGN)
            var limit = rlimit(rlim_cur: 100, rlim_max: 100)
            guard setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0 else { exit(2) }
            do {
                try KnownHostsWriterTests.writer().append(to: folder.path("known_hosts"))
                exit(3)
            } catch let error as KnownHostsWriter.Failure {
                guard error.path == folder.path("known_hosts"), error.detail == "File too large" else {
                    exit(4)
                }
            }
            guard try folder.names(in: "") == ["known_hosts"], try folder.read("known_hosts") == text else {
                exit(5)
            }
        }
    }

    @Test func `another daemon that writes is waited for`() async throws {
        let folder = try TemporaryFolder()
        let descriptor = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        try #require(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
        let path = folder.path("known_hosts")
        let writer = try Self.writer()
        async let failure = withTaskExecutorPreference(OwnThreadExecutor()) {
            () -> KnownHostsWriter.Failure? in
            do throws(KnownHostsWriter.Failure) {
                try writer.append(to: path)
                return nil
            } catch {
                return error
            }
        }
        #expect(BoundedFile.read(path, limit: 1024) == nil)
        try folder.write("known_hosts", "theirs\n")
        flock(descriptor, LOCK_UN)
        #expect(await failure == nil)
        #expect(try folder.read("known_hosts").hasPrefix("theirs\nhost "))
    }
}
