package import HostsModel

/// Hosts that exist only in a test: links that succeed, fail, hang and die as the test says.
///
/// A model, not a recorder: looks on two links of one host, two looks at once and a dial of a host that must not be
/// dialled are reported as violations. A superseded attempt may still succeed; its link must be closed unused.
package final class SimulatedFleet: LinkConnector {
    /// What a dial of a host leads to.
    package enum Behaviour: Sendable {
        case succeeds
        case fails(LinkError)
        /// Neither succeeds nor fails, until it is cancelled.
        case hangs
    }

    /// What a look on a link leads to.
    package enum Looks: Sendable {
        case answer
        /// Answers what the host had to say at its beginning, once this returns.
        case answerAfter(@Sendable () async -> Void)
        case fail(LinkError)
        /// No answer until the test gives one, or the link closes.
        case hang
    }

    struct Host: Sendable {
        var behaviour = Behaviour.succeeds
        var looks = Looks.answer
        var body: [UInt8] = []
        /// The last attempt that may dial it.
        var lastToken = Int.max
        var open: [Int: SimulatedLink] = [:]
        /// The open links that have been looked at.
        var used: Set<Int> = []
        var dials = 0
        var lookCount = 0
    }

    struct State: Sendable {
        var hosts: [HostID: Host] = [:]
        var violations: [String] = []
    }

    let state = Locked(State())

    package init() {}

    /// Broken promises, in words; a test expects none.
    package var violations: [String] { state.withLock { $0.violations } }

    package func set(_ behaviour: Behaviour, for host: HostID) {
        state.withLock { $0.hosts[host, default: Host()].behaviour = behaviour }
    }

    package func set(looks: Looks, for host: HostID) {
        state.withLock { $0.hosts[host, default: Host()].looks = looks }
    }

    /// What the replies of a host carry from now on.
    package func set(body: [UInt8], for host: HostID) {
        state.withLock { $0.hosts[host, default: Host()].body = body }
    }

    /// Says whether a host may be dialled.
    ///
    /// - Parameters:
    ///   - mayBeDialled: If not, a dial is a violation.
    ///   - host: The host.
    ///   - generation: The attempt that was the last when the hub gave the host up: it may be on its way still.
    package func set(mayBeDialled: Bool, _ host: HostID, after generation: Int = 0) {
        state.withLock { $0.hosts[host, default: Host()].lastToken = mayBeDialled ? .max : generation }
    }

    package func dials(of host: HostID) -> Int { state.withLock { $0.hosts[host]?.dials ?? 0 } }
    package func looks(at host: HostID) -> Int { state.withLock { $0.hosts[host]?.lookCount ?? 0 } }
    package func openLinks(of host: HostID) -> Int { state.withLock { $0.hosts[host]?.open.count ?? 0 } }
    package var openLinks: Int { state.withLock { $0.hosts.values.reduce(0) { $0 + $1.open.count } } }

    /// Cuts every link of a host, as a lost network does.
    package func cut(_ host: HostID, _ error: LinkError = .closedByPeer(.probe, detail: "cut")) {
        let links = state.withLock { Array(($0.hosts[host] ?? Host()).open.values) }
        for link in links { link.end(error) }
    }

    package func connect(to record: HostRecord, token: Int) async throws(LinkError) -> any ProbeLink {
        let behaviour = state.withLock { state in
            if let lastToken = state.hosts[record.id]?.lastToken, token > lastToken {
                state.violations.append("\(record.id) was dialled")
            }
            state.hosts[record.id, default: Host()].dials += 1
            return state.hosts[record.id]?.behaviour ?? .succeeds
        }
        switch behaviour {
        case .succeeds: break
        case .fails(let error): throw error
        case .hangs:
            let (never, _) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
            for await _ in never {}
            throw .cancelled
        }
        let link = SimulatedLink(fleet: self, host: record.id, token: token)
        state.withLock { $0.hosts[record.id, default: Host()].open[link.number] = link }
        return link
    }
}

/// A link of a `SimulatedFleet`.
package final class SimulatedLink: ProbeLink {
    private struct State: Sendable {
        var ended: LinkError?
        var waiting: [CheckedContinuation<LinkError, Never>] = []
        var isLooking = false
    }

    private static let numbers = Locked(0)

    let number: Int
    package let token: Int
    package let summary = LinkSummary(kind: .local, mode: .persistent, detail: "simulated")
    private let fleet: SimulatedFleet
    private let host: HostID
    private let state = Locked(State())

    init(fleet: SimulatedFleet, host: HostID, token: Int) {
        number = Self.numbers.withLock { number in
            number += 1
            return number
        }
        self.fleet = fleet
        self.host = host
        self.token = token
    }

    package func probe(
        _ request: ProbeRequest, until deadline: ContinuousClock.Instant
    ) async throws(LinkError) -> ProbeReply {
        let (ended, overlaps) = state.withLock { state in
            defer { state.isLooking = true }
            return (state.ended, state.isLooking)
        }
        defer { state.withLock { $0.isLooking = false } }
        if overlaps { violation("two looks at once at \(host)") }
        // A link may end between the order to look and the look itself; that is the caller's to handle.
        if let ended { throw ended }
        let (looks, body) = fleet.state.withLock { state in
            // A link that was cut a moment ago is not in use any more: its end has been counted already.
            if state.hosts[host]?.open[number] != nil { state.hosts[host]?.used.insert(number) }
            if let used = state.hosts[host]?.used, used.count > 1 {
                state.violations.append("\(host) has two links in use")
            }
            state.hosts[host]?.lookCount += 1
            return (state.hosts[host]?.looks ?? .answer, state.hosts[host]?.body ?? [])
        }
        switch looks {
        case .answer: return ProbeReply(nonce: "nonce", body: body, status: 0)
        case .answerAfter(let wait):
            await wait()
            return ProbeReply(nonce: "nonce", body: body, status: 0)
        case .fail(let error):
            end(error)
            throw error
        case .hang: throw await untilClosed()
        }
    }

    package func untilClosed() async -> LinkError {
        await withCheckedContinuation { continuation in
            let ended = state.withLock { state in
                if state.ended == nil { state.waiting.append(continuation) }
                return state.ended
            }
            if let ended { continuation.resume(returning: ended) }
        }
    }

    package func close(_ reason: LinkError) { end(reason) }

    func end(_ error: LinkError) {
        let waiting = state.withLock { state in
            guard state.ended == nil else { return [CheckedContinuation<LinkError, Never>]() }
            state.ended = error
            defer { state.waiting = [] }
            return state.waiting
        }
        fleet.state.withLock { state in
            state.hosts[host]?.open[number] = nil
            state.hosts[host]?.used.remove(number)
        }
        for continuation in waiting { continuation.resume(returning: error) }
    }

    private func violation(_ text: String) {
        fleet.state.withLock { $0.violations.append(text) }
    }
}
