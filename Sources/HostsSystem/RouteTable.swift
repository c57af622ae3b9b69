import CLinux

/// How the machine is on the network.
package struct NetworkState: Hashable, Sendable {
    /// Whether there is a way out: a default route, IPv4 or IPv6, over an interface that is up and has a carrier and an
    /// address that can be used.
    ///
    /// Loopback does not count. A host that is near may be reached without; see `RouteMonitor.hasRoute(to:)`.
    package let hasRoute: Bool
    /// Changes when an address that can be used or a route comes or goes; means nothing else.
    package let digest: Int

    package init(hasRoute: Bool, digest: Int) {
        self.hasRoute = hasRoute
        self.digest = digest
    }
}

/// What the kernel tells of links, addresses and routes, made into a `NetworkState`.
///
/// It takes the messages of three dumps, in the order links, addresses, routes. How much it keeps depends on the number
/// of interfaces only: routes go into the digest one by one, as a router may have a million.
///
/// What does not count, as it comes and goes with every container: addresses and routes of a single link (fe80::/10,
/// 169.254/16), multicast, the kernel's own table of local addresses, and what is on an interface that is down.
struct RouteTable: Sendable {
    /// Interfaces that are kept; a machine with more is known by the first.
    static let interfaceLimit = 16_384

    /// What the bytes of one datagram were.
    enum Progress: Hashable, Sendable {
        /// The dump goes on.
        case more
        /// The dump is at its end.
        case done
        /// The dump is not of one moment, and must be made again.
        case interrupted
        case failed(code: Int32)
    }

    private struct Interface {
        var isUp: Bool
        var isRunning: Bool
        var isLoopback: Bool
        /// Whether it has an address that can be used, by version.
        var hasIPv4 = false
        var hasIPv6 = false
    }

    private var interfaces: [UInt32: Interface] = [:]
    private var hasRoute = false
    private var digest = 0
    private var isInterrupted = false

    /// What the dumps have told.
    var state: NetworkState {
        var hasher = Hasher()
        hasher.combine(digest)
        hasher.combine(hasRoute)
        return NetworkState(hasRoute: hasRoute, digest: hasher.finalize())
    }

    /// Takes one datagram.
    ///
    /// - Parameters:
    ///   - bytes: As it came; what is cut or no message of the kernel ends it.
    ///   - sequence: Of the request; what answers another one is passed over.
    /// - Returns: How far the dump is.
    mutating func take(_ bytes: some Collection<UInt8>, sequence: UInt32) -> Progress {
        // Messages are read in place, which needs their alignment: an array of words has it.
        var words = [UInt32](repeating: 0, count: (bytes.count + 3) / 4)
        unsafe words.withUnsafeMutableBytes { unsafe $0.copyBytes(from: bytes) }
        return unsafe words.withUnsafeBytes { unsafe take($0.baseAddress, size: bytes.count, sequence) }
    }

    private mutating func take(_ bytes: UnsafeRawPointer?, size: Int, _ sequence: UInt32) -> Progress {
        var offset = 0
        var record = hosts_route_record()
        while unsafe hosts_route_next(bytes, size, &offset, &record) == 1 {
            guard record.sequence == sequence else { continue }
            if record.is_interrupted != 0 { isInterrupted = true }
            switch Int(record.kind) {
            case HOSTS_ROUTE_LINK: addLink(record)
            case HOSTS_ROUTE_ADDRESS: addAddress(record)
            case HOSTS_ROUTE_ROUTE: addRoute(record)
            case HOSTS_ROUTE_DONE: return isInterrupted ? .interrupted : .done
            case HOSTS_ROUTE_ERROR: return .failed(code: record.error)
            default: break
            }
        }
        return .more
    }

    private mutating func addLink(_ record: hosts_route_record) {
        guard record.is_removal == 0, interfaces.count < Self.interfaceLimit else { return }
        interfaces[record.interface] = Interface(
            isUp: record.is_up != 0, isRunning: record.is_running != 0, isLoopback: record.is_loopback != 0)
    }

    private mutating func addAddress(_ record: hosts_route_record) {
        guard record.is_removal == 0, record.is_tentative == 0,
            let interface = interfaces[record.interface], interface.isUp
        else { return }
        let address = Self.bytes(record.address, record.version)
        guard !Self.isOfLink(address), !Self.isLoopback(address) else { return }
        if record.version == 4 {
            interfaces[record.interface]?.hasIPv4 = true
        } else {
            interfaces[record.interface]?.hasIPv6 = true
        }
        add { hasher in
            hasher.combine(address)
            hasher.combine(record.prefix_length)
            hasher.combine(record.interface)
        }
    }

    private mutating func addRoute(_ record: hosts_route_record) {
        guard record.is_removal == 0, record.is_unicast != 0 else { return }
        let destination = Self.bytes(record.address, record.version)
        let hops = Self.hops(record)
        let isDefault = record.prefix_length == 0
        guard isDefault || !Self.isOfLink(destination), hops.contains(where: { interfaces[$0]?.isUp == true })
        else { return }
        let isUsable = isDefault && record.is_dead == 0 && hops.contains { leadsOut($0, record.version) }
        if isUsable { hasRoute = true }
        let gateway = Self.bytes(record.gateway, record.version)
        add { hasher in
            hasher.combine(destination)
            hasher.combine(record.prefix_length)
            hasher.combine(gateway)
            hasher.combine(hops)
            hasher.combine(record.table)
            hasher.combine(record.priority)
            hasher.combine(isUsable)
        }
    }

    private func leadsOut(_ interface: UInt32, _ version: UInt8) -> Bool {
        guard let interface = interfaces[interface], interface.isUp, interface.isRunning,
            !interface.isLoopback
        else { return false }
        return version == 4 ? interface.hasIPv4 : interface.hasIPv6
    }

    /// Adds one entry to the digest; their order does not matter, as a dump has none.
    private mutating func add(_ entry: (inout Hasher) -> Void) {
        var hasher = Hasher()
        entry(&hasher)
        digest &+= hasher.finalize()
    }

    private static func bytes<Storage>(_ storage: Storage, _ version: UInt8) -> [UInt8] {
        unsafe withUnsafeBytes(of: storage) { unsafe Array($0.prefix(version == 4 ? 4 : 16)) }
    }

    private static func hops(_ record: hosts_route_record) -> [UInt32] {
        unsafe withUnsafeBytes(of: record.hops) {
            unsafe Array($0.assumingMemoryBound(to: UInt32.self).prefix(Int(record.hop_count)))
        }
    }

    /// Whether an address means something on one link only, or is none of a host: link-local and multicast.
    private static func isOfLink(_ address: [UInt8]) -> Bool {
        address.count == 4
            ? (address[0] == 169 && address[1] == 254) || address[0] >= 224
            : (address[0] == 0xfe && address[1] & 0xc0 == 0x80) || address[0] == 0xff
    }

    private static func isLoopback(_ address: [UInt8]) -> Bool {
        address.count == 4 ? address[0] == 127 : address.dropLast().allSatisfy { $0 == 0 }
    }
}
