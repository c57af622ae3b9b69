package import HostsModel

/// One connection made for the question "does this host work?", and closed again.
///
/// It touches neither the host's feed nor its model, so it may be asked of a disabled host (seed 002).
package struct SignalCheck: Sendable {
    /// How long the look may take: it carries the start of the remote shell.
    package static let lookTimeout: Duration = .seconds(20)

    /// What came of it.
    package struct Outcome: Hashable, Sendable {
        /// How the host was reached; nil if it was not.
        package let link: LinkSummary?
        /// Nil when everything worked.
        package let error: LinkError?
        /// From the dial to the shell.
        package let connecting: Duration
        /// The whole look; nil if it did not come to one.
        package let looking: Duration?
        /// How many agents were found.
        package let sessions: Int?
    }

    private let connector: any LinkConnector
    private let clock: any MonotonicClock
    private let wallClock: any WallClock
    private let makeInterpreter: @Sendable (HostID) -> any ProbeInterpreter

    package init(environment: ConnectionHub.Environment) {
        connector = environment.connector
        clock = environment.clock
        wallClock = environment.wallClock
        makeInterpreter = environment.makeInterpreter
    }

    /// Connects, looks once and closes.
    package func run(_ record: HostRecord) async -> Outcome {
        let start = clock.now
        let link: any ProbeLink
        do throws(LinkError) {
            link = try await connector.connect(to: record, token: 0)
        } catch {
            return Outcome(
                link: nil, error: error, connecting: clock.now - start, looking: nil, sessions: nil)
        }
        let connected = clock.now
        let result = await look(link, record.id)
        link.close(.cancelled)
        switch result {
        case .success(let observation):
            return Outcome(
                link: link.summary, error: nil, connecting: connected - start, looking: clock.now - connected,
                sessions: observation.sessions.count { $0.state != .exited })
        case .failure(let error):
            return Outcome(
                link: link.summary, error: error, connecting: connected - start, looking: nil, sessions: nil)
        }
    }

    private func look(_ link: any ProbeLink, _ host: HostID) async -> Result<HostObservation, LinkError> {
        let deadline = clock.now.advanced(by: Self.lookTimeout)
        var interpreter = makeInterpreter(host)
        var request = interpreter.nextRequest()
        do throws(LinkError) {
            while true {
                let reply = try await link.probe(request, until: deadline)
                switch try interpreter.interpret(reply, at: wallClock.now) {
                case .followUp(let next): request = next
                case .observation(let observation): return .success(observation)
                }
            }
        } catch {
            return .failure(error)
        }
    }
}
