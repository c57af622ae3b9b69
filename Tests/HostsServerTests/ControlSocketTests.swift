import Glibc
import HostsAPI
import HostsModel
import HostsTestSupport
import Testing

@testable import HostsServer

@Suite struct ControlSocketTests {
    private func error(_ body: () throws(HTTPServerError) -> Void) -> HTTPServerError? {
        do throws(HTTPServerError) {
            try body()
            return nil
        } catch {
            return error
        }
    }

    private func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    @Test func `a second server on a socket that answers is refused with the process that has it`()
        async throws
    {
        try await ServerFixture.with { server in
            let error = error { () throws(HTTPServerError) in _ = try server.makeServer() }
            #expect(error == .alreadyRunning(path: server.path, pid: getpid()))
            #expect(error?.message.contains("process \(getpid())") == true)
            #expect(error?.help.contains("hostsctl status") == true)
            let health = try await server.get("/healthz")
            #expect(health.status == 200)
        }
    }

    @Test func `a socket that answers is not taken, even when nobody holds its lock`() throws {
        let directory = try TemporaryFolder()
        let path = directory.path + "/api.sock"
        let first = try ControlSocket(path: path)
        unlink(path + ".lock")
        let error = error { () throws(HTTPServerError) in _ = try ControlSocket(path: path) }
        #expect(error == .alreadyRunning(path: path, pid: getpid()))
        #expect(exists(path))
        first.close()
    }

    @Test func `a lock without a socket is a daemon that starts or stops`() throws {
        let directory = try TemporaryFolder()
        let path = directory.path + "/api.sock"
        let first = try ControlSocket(path: path)
        unlink(path)
        let error = error { () throws(HTTPServerError) in _ = try ControlSocket(path: path) }
        #expect(error == .alreadyRunning(path: path, pid: nil))
        first.close()
    }

    @Test func `a socket that a dead daemon left is replaced`() throws {
        let directory = try TemporaryFolder()
        let path = directory.path + "/api.sock"
        let left = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(left, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(bound == 0)
        close(left)
        let socket = try ControlSocket(path: path)
        _ = try Client(path)
        socket.close()
        #expect(!exists(path))
    }

    @Test func `a file that is no socket is left alone`() throws {
        let directory = try TemporaryFolder()
        let path = directory.path + "/file"
        close(open(path, O_CREAT | O_WRONLY, 0o600))
        defer { unlink(path + ".lock") }
        let error = error { () throws(HTTPServerError) in _ = try ControlSocket(path: path) }
        #expect(error == .notASocket(path: path))
        #expect(exists(path))
    }

    @Test func `a path of 107 bytes fits, one byte more is refused with the limit`() throws {
        let directory = try TemporaryFolder()
        let room = ControlSocket.pathLimit - directory.path.utf8.count - 1
        let path = directory.path + "/" + String(repeating: "s", count: room)
        let socket = try ControlSocket(path: path)
        _ = try Client(path)
        socket.close()
        unlink(path + ".lock")
        let error = error { () throws(HTTPServerError) in _ = try ControlSocket(path: path + "s") }
        #expect(error == .pathTooLong(path: path + "s", length: 108, limit: 107))
        #expect(error?.message.contains("107") == true)
        #expect(error?.help.contains("--socket") == true)
    }

    @Test func `only its owner may use the socket and the directory that it made`() throws {
        let directory = try TemporaryFolder()
        let inner = directory.path + "/run"
        let socket = try ControlSocket(path: inner + "/api.sock")
        var status = stat()
        #expect(stat(inner, &status) == 0 && status.st_mode & 0o777 == 0o700)
        #expect(stat(inner + "/api.sock", &status) == 0 && status.st_mode & 0o777 == 0o600)
        socket.close()
        unlink(inner + "/api.sock.lock")
        rmdir(inner)
    }

    @Test func `a directory that others may write to is refused`() throws {
        let directory = try TemporaryFolder()
        chmod(directory.path, 0o777)
        let error = error { () throws(HTTPServerError) in
            _ = try ControlSocket(path: directory.path + "/api.sock")
        }
        #expect(error == .unsafeDirectory(path: directory.path, owner: geteuid(), mode: 0o777))
    }

    @Test func `a directory whose parent is missing is an error of the system`() {
        let error = error { () throws(HTTPServerError) in
            _ = try ControlSocket(path: "/nonexistent/a/api.sock")
        }
        #expect(error == .systemCall("mkdir", path: "/nonexistent/a", code: ENOENT))
        #expect(error?.message == "mkdir /nonexistent/a: No such file or directory")
    }

    @Test func `a socket that another process put in the place of ours stays`() throws {
        let directory = try TemporaryFolder()
        let path = directory.path + "/api.sock"
        let first = try ControlSocket(path: path)
        rename(path, path + ".old")
        unlink(path + ".lock")
        let second = try ControlSocket(path: path)
        first.close()
        #expect(exists(path))
        second.close()
        #expect(!exists(path))
        unlink(path + ".old")
    }

    @Test func `a stopped server leaves no socket, and the next one starts`() async throws {
        let directory = try TemporaryFolder()
        let fixture = ServerFixture(
            daemon: TestDaemon(), clock: ManualClock(), path: directory.path + "/api.sock")
        for _ in 0..<3 {
            let server = try fixture.makeServer()
            let run = Task { try await server.run() }
            let health = try await fixture.get("/healthz")
            #expect(health.status == 200)
            run.cancel()
            try await run.value
            #expect(!exists(fixture.path))
        }
    }

    @Test func `a server that is cancelled before it runs ends`() async throws {
        let directory = try TemporaryFolder()
        let fixture = ServerFixture(
            daemon: TestDaemon(), clock: ManualClock(), path: directory.path + "/api.sock")
        let server = try fixture.makeServer()
        let run = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await server.run()
        }
        try await run.value
        #expect(!exists(fixture.path))
    }
}
