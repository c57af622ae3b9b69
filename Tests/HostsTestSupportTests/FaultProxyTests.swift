import HostsModel
import HostsTestSupport
import Testing

/// The proxy between a client and a server that sends back what it gets; both are children.
@Suite(.serialized, .timeLimit(.minutes(5))) struct FaultProxyTests {
    private static let echo = """
        import socket, threading
        listener = socket.create_server(("127.0.0.1", 0))
        print("port", listener.getsockname()[1], flush=True)
        def serve(peer):
            try:
                while data := peer.recv(65536):
                    peer.sendall(data)
            except OSError:
                pass
            peer.close()
        while True:
            threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
        """

    /// Sends so many bytes while it receives, and says how many came back, which were wrong, and how it ended.
    ///
    /// Arguments: the port, the count, and how long it waits in seconds.
    private static let client = """
        import socket, sys, threading
        port, count, patience = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
        sent = bytes(i * 7 % 251 for i in range(count))
        got, end, broken = b"", "eof", []
        try:
            peer = socket.create_connection(("127.0.0.1", port))
            peer.settimeout(patience)
            def send():
                try:
                    peer.sendall(sent)
                    if patience > 1:
                        peer.shutdown(socket.SHUT_WR)
                except OSError:
                    # Whoever meets the reset first takes it away from the other.
                    broken.append("reset")
            sender = threading.Thread(target=send)
            sender.start()
            while data := peer.recv(65536):
                got += data
            sender.join()
        except ConnectionResetError:
            end = "reset"
        except ConnectionRefusedError:
            end = "refused"
        except TimeoutError:
            end = "silence"
        wrong = [i for i, (a, b) in enumerate(zip(sent, got)) if a != b]
        print(len(got), wrong[:3], *(broken or [end]))
        """

    private func run(
        _ count: Int, patience: Double = 60, _ body: (FaultProxy) async throws -> Void
    ) async throws -> String {
        let server = try BackgroundProcess(
            "/usr/bin/python3", ["-c", Self.echo], environment: Tool.environment)
        defer { server.stop() }
        try await server.log.until("port ")
        let port = try #require(server.log.lines.first?.split(separator: " ").last.flatMap { UInt16($0) })
        let proxy = try FaultProxy(target: port)
        defer { proxy.stop() }
        try await body(proxy)
        return try await ask(proxy, count, patience)
    }

    private func ask(_ proxy: FaultProxy, _ count: Int, _ patience: Double = 60) async throws -> String {
        try await Tool.run(
            "/usr/bin/python3", ["-c", Self.client, String(proxy.port), String(count), String(patience)])
    }

    @Test func `without faults everything passes, both ways`() async throws {
        #expect(try await run(1_000_000) { _ in } == "1000000 [] eof\n")
    }

    @Test(arguments: [0, 1, 1000, 100_000])
    func `a cut lets so many bytes pass, then there is an end`(bytes: Int) async throws {
        #expect(try await run(200_000) { $0.set(.cutAfter(serverBytes: bytes)) } == "\(bytes) [] eof\n")
    }

    @Test func `bytes to the server count where they are to count`() async throws {
        let said = try await run(200_000) { $0.set(.cut(.finish, after: 5000, .toServer)) }
        let count = try #require(said.split(separator: " ").first.flatMap { Int($0) })
        #expect(count <= 5000)
        #expect(said.hasSuffix("[] eof\n"))
    }

    @Test(arguments: [0, 1000])
    func `a reset is a reset`(bytes: Int) async throws {
        let said = try await run(200_000) { $0.set(.cut(.reset, after: bytes, .toClient)) }
        #expect(said.hasSuffix("reset\n"))
    }

    @Test func `one bit is turned over on its way, and no other`() async throws {
        var faults = ProxyFaults.none
        faults.toClient.flip = ProxyFaults.Flip(byte: 70_000, bit: 5)
        let said = try await run(200_000) { [faults] in $0.set(faults) }
        #expect(said == "200000 [70000] eof\n")
    }

    @Test func `slices and delays lose nothing`() async throws {
        var faults = ProxyFaults.both {
            $0.delay = .milliseconds(2)
            $0.jitter = .milliseconds(2)
            $0.lossOneIn = 20
            $0.lossDelay = .milliseconds(5)
        }
        faults.toClient.pieceSize = 1000
        let said = try await run(200_000) { [faults] in $0.set(faults) }
        #expect(said == "200000 [] eof\n")
    }

    @Test func `a stall that heals loses nothing`() async throws {
        let server = try BackgroundProcess(
            "/usr/bin/python3", ["-c", Self.echo], environment: Tool.environment)
        defer { server.stop() }
        try await server.log.until("port ")
        let port = try #require(server.log.lines.first?.split(separator: " ").last.flatMap { UInt16($0) })
        let proxy = try FaultProxy(target: port)
        defer { proxy.stop() }
        proxy.set(.stall)
        async let said = ask(proxy, 200_000)
        while proxy.openConnectionCount == 0 { await Task.yield() }
        #expect(proxy.traffic == FaultProxy.Traffic(toServer: 0, toClient: 0))
        proxy.set(.none)
        #expect(try await said == "200000 [] eof\n")
        #expect(proxy.traffic == FaultProxy.Traffic(toServer: 200_000, toClient: 200_000))
    }

    @Test func `it refuses, and then accepts on the same port`() async throws {
        let said = try await run(10) { proxy in
            proxy.set(.admission(.refuse))
            let refused = try await ask(proxy, 10)
            #expect(refused == "0 [] refused\n")
            proxy.set(.none)
        }
        #expect(said == "10 [] eof\n")
    }

    @Test func `it accepts and says nothing`() async throws {
        let said = try await run(10, patience: 0.2) { $0.set(.admission(.silent)) }
        #expect(said == "0 [] silence\n")
    }

    @Test func `what is said first comes first`() async throws {
        var faults = ProxyFaults.none
        faults.preamble = Array("hello".utf8)
        let said = try await run(3) { [faults] in $0.set(faults) }
        #expect(said.hasPrefix("8 "))
    }
}
