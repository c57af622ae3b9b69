import HostsDetection
import HostsModel

/// Makes the rules for an agent's log of its turns out of `[turn_log]`.
enum TurnLogDecoder {
    static let skipLimit = 8

    static func turnLog(_ table: inout RuleTable) -> TurnLogRules? {
        let variable = StateFileDecoder.readVariable(&table)
        let home = table.string("home")
        StateFileDecoder.checkFolder(home, &table)
        let location = readLocation(&table, hasHome: home != nil)
        let length = table.integer("kibibytes", in: 1...256) ?? 64
        let skip = table.strings("skip")
        for text in skip.dropFirst(skipLimit) {
            table.report(.error(at: text.location, "at most \(skipLimit) are possible"))
        }
        for text in skip where !isSkip(text.text) {
            table.report(
                .error(
                    at: text.location, "\"member\" or \"member=text\" is wanted, of letters, digits and . _ -"
                ))
        }
        let events = table.child("events") { readEvents(&$0) } ?? [:]
        guard let location else { return nil }
        return TurnLogRules(
            location: location, variable: variable, home: home?.text ?? "",
            length: .kibibytes(length), skip: skip.map(\.text), events: events)
    }

    private static func readLocation(_ table: inout RuleTable, hasHome: Bool) -> TurnLogRules.Location? {
        let patterns = [table.string("held"), table.string("marker")]
        let file = table.string("file")
        for pattern in patterns {
            guard let pattern, !TurnLogRules.isPattern(pattern.text) else { continue }
            table.report(
                .error(
                    at: pattern.location,
                    "a pattern of letters, digits and . _ - / * ? is wanted, at most 200"))
        }
        if let file, !TurnLogRules.isWord(file.text) {
            table.report(.error(at: file.location, "the name of a file is wanted"))
        }
        if let held = patterns[0], patterns[1] == nil, file == nil { return .held(held.text) }
        if let marker = patterns[1], patterns[0] == nil, let file, hasHome {
            return .beside(marker: marker.text, file: file.text)
        }
        table.report(
            .error(
                at: table.location, "[turn_log] needs \"held\", or \"home\", \"marker\" and \"file\""))
        return nil
    }

    private static func isSkip(_ text: String) -> Bool {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(
            String.init)
        return parts.allSatisfy(TurnLogRules.isWord)
    }

    private static func readEvents(_ table: inout RuleTable) -> [String: TurnLogRules.Event] {
        let members = table.members { name, event -> TurnLogRules.Event? in
            let flags = StateFileDecoder.readFlags(&event)
            let reason = event.choice("reason", among: NeedsYouReason.allCases.map { ($0.rawValue, $0) })
            let strength = event.choice(
                "strength", among: [("weak", Evidence.Strength.weak), ("strong", .strong)])
            if !TurnLogRules.isWord(name) {
                event.report(.error(at: event.location, "an event has letters, digits and . _ - in its name"))
            }
            switch event.choice("state", among: StateFileDecoder.states) {
            case .busy: return TurnLogRules.Event(meaning: .busy)
            case .idle: return TurnLogRules.Event(meaning: .idle(strength ?? .weak), flags: flags)
            case .needsYou: return TurnLogRules.Event(meaning: .needsYou(reason ?? .other))
            case nil: return nil
            }
        }
        return Dictionary(members.map { ($0.key, $0.value) }, uniquingKeysWith: { first, _ in first })
    }
}
