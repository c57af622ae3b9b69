import FoundationEssentials
package import HostsModel

/// What an agent's own state file says about its process.
package struct StateFileReading: Hashable, Sendable {
    package var state: StateFileRules.Status.State
    package var flags: Set<SessionFlag>
    /// Why it needs the person, if it says so.
    package var reason: NeedsYouReason?
    package var version: String?
    /// The rule that evidence names, such as `claude.state-file.shell`.
    package var rule: String

    package init(
        state: StateFileRules.Status.State, flags: Set<SessionFlag>, reason: NeedsYouReason?,
        version: String?,
        rule: String
    ) {
        self.state = state
        self.flags = flags
        self.reason = reason
        self.version = version
        self.rule = rule
    }

    /// Why a state file is as good as none.
    package enum Refusal: String, Error, Hashable, Sendable, CaseIterable {
        /// Half written, or of another format.
        case unreadable
        /// Of a process that had the number before, or of another namespace of processes.
        case otherProcess = "other-process"
        /// A word that the rules do not know.
        case unknownStatus = "unknown-status"
    }

    /// Reads a state file.
    ///
    /// - Parameters:
    ///   - json: The file's bytes, as another program wrote them.
    ///   - startTime: When the process was started, as `/proc` says; a file of another process, or of another
    ///     namespace of processes, says something else.
    ///   - rules: The rules of the agent that wrote it.
    /// - Throws: Why the screen has to decide.
    package init(json: [UInt8], startTime: String, rules: CompiledRules) throws(Refusal) {
        guard let file = rules.rules.stateFile else { throw .unreadable }
        let members: [String: JSONMember]
        do {
            members = try JSONDecoder().decode([String: JSONMember].self, from: Data(json))
        } catch {
            throw .unreadable
        }
        guard members[file.keys.start]?.text == startTime else { throw .otherProcess }
        guard let word = members[file.keys.status]?.text, let status = file.statuses[word] else {
            throw .unknownStatus
        }
        // What stands beside another status is stale.
        let detail = status.state == .needsYou ? members[file.keys.detail]?.text : nil
        let reason = detail.flatMap { text in
            rules.reasons.first { $0.pattern.find(in: text) == .match }?.reason
        }
        self.init(
            state: status.state, flags: status.flags,
            reason: status.state == .needsYou ? reason ?? .other : nil,
            version: members[file.keys.version]?.text.map { SafeText.visible($0, limit: 40) },
            rule: "\(rules.rules.name).state-file.\(SafeText.visible(word, limit: 40))")
    }
}

/// A member of a JSON object that is a text or a whole number, or something that is not looked at.
private struct JSONMember: Decodable {
    let text: String?

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        do {
            text = try container.decode(String.self)
        } catch {
            // Not a text; a number that is no whole number, a list or an object is of no interest.
            text = (try? container.decode(Int64.self)).map { String($0) }
        }
    }
}
