package import HostsModel

/// A log that an agent writes of its own turns: one JSON object in each line, with a member `type`.
///
/// Only the words of the events named here ever leave the host, never a line of the log.
package struct TurnLogRules: Hashable, Sendable {
    /// How the log of a process is found.
    package enum Location: Hashable, Sendable {
        /// The process holds it open: a file whose whole path fits a shell pattern (`/proc/PID/fd`, proc(5)).
        case held(String)
        /// A file beside another one whose name holds the process number.
        ///
        /// `marker` is a shell pattern below the agent's own folder, in which `PID` stands for the number; `file` is
        /// the name of the log.
        case beside(marker: String, file: String)
    }

    /// What one event means.
    package enum Meaning: Hashable, Sendable {
        case busy
        case idle(Evidence.Strength)
        case needsYou(NeedsYouReason)
    }

    /// One event of the log.
    package struct Event: Hashable, Sendable {
        package var meaning: Meaning
        /// Of an idle session.
        package var flags: Set<SessionFlag>

        package init(meaning: Meaning, flags: Set<SessionFlag> = []) {
            self.meaning = meaning
            self.flags = flags
        }
    }

    package var location: Location
    /// Environment variable that names the agent's own folder; empty: there is none.
    package var variable: String
    /// The agent's own folder below the home folder, if the variable is not set.
    package var home: String
    /// How much of its end is read.
    package var length: ByteCount
    /// Members of the first line that make it the log of somebody else, such as a subagent: `member=text`, or `member`
    /// for one that is any text.
    package var skip: [String]
    /// By the word that `type` has.
    package var events: [String: Event]

    package init(
        location: Location, variable: String = "", home: String = "", length: ByteCount = .kibibytes(64),
        skip: [String] = [], events: [String: Event]
    ) {
        self.location = location
        self.variable = variable
        self.home = home
        self.length = length
        self.skip = skip
        self.events = events
    }

    /// What a pattern for paths may be: letters, digits and `. _ - / * ?`, never upwards.
    package static func isPattern(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 200
            && text.utf8.allSatisfy { isWordByte($0) || [0x2f, 0x2a, 0x3f].contains($0) }
            && !text.split(separator: "/").contains("..")
    }

    /// What the word of an event, or a text in `skip`, may be: letters, digits and `. _ -`.
    package static func isWord(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 80 && text.utf8.allSatisfy(isWordByte)
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
            || [0x2e, 0x5f, 0x2d].contains(byte)
    }
}

extension TurnLogRules {
    /// What the probe is asked with, behind `log:PID:STAMP:`; see `ProbeProgram`.
    var words: String {
        let place: String
        switch location {
        case .held(let pattern): place = "held:\(pattern):"
        case .beside(let marker, let file): place = "beside:\(marker):\(file)"
        }
        let events = events.keys.sorted().joined(separator: ",")
        return "\(place):\(variable):\(home):\(length.bytes):\(skip.joined(separator: ",")):\(events)"
    }
}
