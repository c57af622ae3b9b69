package import HostsModel

/// A file in which an agent itself keeps its state: one JSON object in `FOLDER/PID.json`.
///
/// It counts only while its process lives and was started when the file says (field 22 of `/proc/PID/stat`).
package struct StateFileRules: Hashable, Sendable {
    /// What one status word means.
    package struct Status: Hashable, Sendable {
        package enum State: Hashable, Sendable {
            case busy, idle, needsYou
        }

        package var state: State
        package var flags: Set<SessionFlag>

        package init(state: State, flags: Set<SessionFlag> = []) {
            self.state = state
            self.flags = flags
        }
    }

    /// Which reason a text beside the status gives; the first that matches counts.
    package struct Reason: Hashable, Sendable {
        package var pattern: RulePattern
        package var reason: NeedsYouReason

        package init(pattern: RulePattern, reason: NeedsYouReason) {
            self.pattern = pattern
            self.reason = reason
        }
    }

    /// The names of the members of the JSON object.
    package struct Keys: Hashable, Sendable {
        package var start: String
        package var status: String
        package var detail: String
        package var version: String

        package init(
            start: String = "procStart", status: String = "status", detail: String = "waitingFor",
            version: String = "version"
        ) {
            self.start = start
            self.status = status
            self.detail = detail
            self.version = version
        }
    }

    /// Environment variable that names the agent's own folder; empty: there is none.
    package var variable: String
    /// The agent's own folder below the home folder, if the variable is not set.
    package var home: String
    /// The folder of the files below the agent's own.
    package var folder: String
    package var keys: Keys
    package var statuses: [String: Status]
    package var reasons: [Reason]

    package init(
        variable: String = "", home: String, folder: String, keys: Keys = Keys(), statuses: [String: Status],
        reasons: [Reason] = []
    ) {
        self.variable = variable
        self.home = home
        self.folder = folder
        self.keys = keys
        self.statuses = statuses
        self.reasons = reasons
    }

    /// What a variable's name may be, so that the probe can name it in a shell.
    package static func isVariable(_ text: String) -> Bool {
        text.utf8.allSatisfy { isLetterOrDigit($0) || $0 == 0x5f } && !(text.utf8.first.map(isDigit) ?? false)
    }

    /// What a folder may be: relative, of letters, digits, `.`, `_`, `-` and `/`, and never upwards.
    package static func isFolder(_ text: String) -> Bool {
        guard !text.isEmpty, text.utf8.first != 0x2f, text.utf8.first != 0x2d else { return false }
        guard text.utf8.allSatisfy({ isLetterOrDigit($0) || [0x2e, 0x5f, 0x2d, 0x2f].contains($0) }) else {
            return false
        }
        return !text.split(separator: "/").contains("..")
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        isDigit(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
    }
}
