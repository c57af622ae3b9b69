import HostsTestSupport
import Testing

/// Addresses and routes that come and go, with the real hostsd and a real sshd in a network of their own.
@Suite(
    .serialized, .timeLimit(.minutes(5)),
    .enabled(if: NetworkNamespace.isAvailable, "only root can make a network namespace"))
struct NetworkTests {
    /// Looks come so seldom that whatever is seen soon was caused by the network.
    private static let slow = "[probe]\ninterval_seconds = 600\n"

    @Test func `an address that goes is noticed, and one that comes back is dialled at once`() async throws {
        let network = try await NetworkNamespace()
        try await network.ip(
            "link set lo up", "link add left type veth peer name right", "link set left up",
            "link set right up", "addr add 10.77.0.2/24 dev left", "route add default via 10.77.0.1")
        var options = LocalSSHD.Options()
        options.name = "a"
        options.address = "10.77.0.2"
        options.network = network
        let server = try await LocalSSHD(options)
        let daemon = try await PrivateDaemon(servers: [server], settings: Self.slow, network: network)
        try await daemon.until("a", "online")

        // Another address: the link is looked at, and stays.
        var position = daemon.log.position
        try await network.ip("addr add 10.78.0.1/24 dev right")
        position = try await daemon.log.until("the network changed", after: position)
        #expect(try await daemon.hostsctl("probe", "a").status == 0)
        #expect(server.log.count(of: "Accepted publickey") == 1)

        // Its own goes, and with it the way out: the link is found dead long before the next look.
        try await network.ip("addr del 10.77.0.2/24 dev left")
        position = try await daemon.log.until("closing the link", after: position)
        #expect(server.log.count(of: "Accepted publickey") == 1)

        try await network.ip("addr add 10.77.0.2/24 dev left", "route replace default via 10.77.0.1")
        try await daemon.until("a", "online", after: position)
        #expect(server.log.count(of: "Accepted publickey") == 2)
        await daemon.terminate()
    }
}
