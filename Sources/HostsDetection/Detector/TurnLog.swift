import HostsModel

/// The logs of one agent's processes, as far as looks have seen them.
///
/// An agent that is resumed goes on with the log of before, whose last turn may have been cut off: what stands there
/// counts for little until the log has been seen to grow.
struct TurnLog: Hashable, Sendable {
    private struct Seen: Hashable, Sendable {
        let stamp: TurnLogRecord.Stamp
        let event: String?
        let hasGrown: Bool
        let since: WallTime
    }

    private var seen: [Int32: Seen] = [:]

    /// The stamp with which the log of a process is asked for; nil: none is known.
    func stamp(of pid: Int32) -> TurnLogRecord.Stamp? { seen[pid]?.stamp }

    /// Takes into account what a look has found of these processes; what is not found is forgotten.
    mutating func observe(_ records: [TurnLogRecord], of pids: [Int32], at time: WallTime) {
        var next: [Int32: Seen] = [:]
        for record in records where pids.contains(record.pid) {
            let known = seen[record.pid]
            switch record.content {
            case .same: next[record.pid] = known
            case .read(let stamp, let events):
                // Lines that say nothing of turns push older ones out of the end that is read.
                let event = events.last ?? (stamp.file == known?.stamp.file ? known?.event : nil)
                next[record.pid] = Seen(
                    stamp: stamp, event: event,
                    // Another file is another session of the same process: what it says is new.
                    hasGrown: known.map { $0.hasGrown || $0.stamp != stamp } ?? false,
                    since: known?.event == event ? known?.since ?? time : time)
            }
        }
        seen = next
    }

    /// What the newest of the logs says.
    ///
    /// - Parameters:
    ///   - rules: The rules of the agent.
    ///   - time: Of the look.
    /// - Returns: Nil where there is no log, or no event that the rules know.
    func reading(_ rules: AgentRules, at time: WallTime) -> AgentSample.Aged<TurnLogReading>? {
        guard let log = seen.values.max(by: { $0.stamp.modified < $1.stamp.modified }),
            let word = log.event, let event = rules.turnLog?.events[word]
        else { return nil }
        return AgentSample.Aged(
            reading: TurnLogReading(
                meaning: event.meaning, flags: event.flags, rule: "\(rules.name).turn-log.\(word)",
                isLive: log.hasGrown),
            age: time.duration(since: log.since))
    }
}

/// What an agent's turn log says.
struct TurnLogReading: Hashable, Sendable {
    let meaning: TurnLogRules.Meaning
    let flags: Set<SessionFlag>
    let rule: String
    /// The log has grown while the agent was watched.
    let isLive: Bool
}
