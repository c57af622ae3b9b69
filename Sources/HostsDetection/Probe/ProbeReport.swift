package import HostsModel

/// The parsed reply to one request: what the host is, which processes have a terminal, and what tmux shows.
package struct ProbeReport: Hashable, Sendable {
    /// Which function answered.
    package enum Kind: String, Hashable, Sendable {
        case probe, look
    }

    package var kind: Kind
    /// Kernel, release and host name, such as `Linux 6.1.0-40-amd64 devbox`.
    package var system: String
    package var bootID: String
    /// The user id of the account.
    package var user: Int
    package var processes: [ProcessRecord]
    package var stateFiles: [StateFileRecord]
    package var turnLogs: [TurnLogRecord]
    package var servers: [TmuxServer]

    package init(
        kind: Kind, system: String = "", bootID: String = "", user: Int = 0, processes: [ProcessRecord] = [],
        stateFiles: [StateFileRecord] = [], turnLogs: [TurnLogRecord] = [], servers: [TmuxServer] = []
    ) {
        self.kind = kind
        self.system = system
        self.bootID = bootID
        self.user = user
        self.processes = processes
        self.stateFiles = stateFiles
        self.turnLogs = turnLogs
        self.servers = servers
    }
}

/// A process of the user: what `/proc/PID/stat` and `/proc/PID/cmdline` say (proc(5)), or ps(1) where there is no `/proc`.
package struct ProcessRecord: Hashable, Sendable {
    package var pid: Int32
    package var parent: Int32
    package var group: Int32
    /// 0 where the host does not tell.
    package var session: Int32
    /// The device number of the controlling terminal, or 1 for one that has only a name; 0: none.
    package var terminal: Int32
    /// The terminal's name below `/dev`, where the host tells that instead of a number.
    package var terminalFile: String?
    /// The process group in the terminal's foreground; -1: none.
    package var foreground: Int32
    /// One letter: `R S D T t Z X I`.
    package var state: UInt8
    /// Field 22: clock ticks since boot, or the date that ps(1) says; as the host writes it, only equality matters.
    package var startTime: String
    /// The kernel's name of the process, at most 15 bytes.
    package var name: String
    /// The arguments, cut after some 500 bytes or at the first line break; ps(1) does not tell where one with a blank ends.
    package var arguments: [String]

    package init(
        pid: Int32, parent: Int32, group: Int32, session: Int32, terminal: Int32, foreground: Int32,
        state: UInt8,
        startTime: String, name: String, arguments: [String] = [], terminalFile: String? = nil
    ) {
        self.pid = pid
        self.parent = parent
        self.group = group
        self.session = session
        self.terminal = terminal
        self.terminalFile = terminalFile
        self.foreground = foreground
        self.state = state
        self.startTime = startTime
        self.name = name
        self.arguments = arguments
    }
}

extension ProcessRecord {
    /// Stopped by job control (Ctrl-Z).
    package var isStopped: Bool { state == UInt8(ascii: "T") }
    /// Has ended and waits for its parent.
    package var isDead: Bool { state == UInt8(ascii: "Z") || state == UInt8(ascii: "X") }
    /// Its group owns the terminal.
    package var isForeground: Bool { terminal != 0 && group == foreground }

    /// The name of the terminal, such as `pts/3`; nil: none, or of a kind that people do not type at.
    package var terminalName: String? {
        if let terminalFile { return terminalFile }
        let device = UInt32(bitPattern: terminal)
        let major = (device >> 8) & 0xfff
        let minor = (device & 0xff) | ((device >> 12) & 0xfff00)
        switch major {
        // Linux, Documentation/admin-guide/devices.txt
        case 136...143: return "pts/\(minor + (major - 136) * 256)"
        case 4: return minor < 64 ? "tty\(minor)" : "ttyS\(minor - 64)"
        default: return nil
        }
    }
}

/// What an agent wrote about one of its processes.
package struct StateFileRecord: Hashable, Sendable {
    package var agent: AgentName
    package var pid: Int32
    /// The first line of the file: a JSON object, if the agent wrote it.
    package var json: [UInt8]

    package init(agent: AgentName, pid: Int32, json: [UInt8]) {
        self.agent = agent
        self.pid = pid
        self.json = json
    }
}

/// What the log of one process's turns says.
package struct TurnLogRecord: Hashable, Sendable {
    /// Which file it is, and how far it was written; written `INODE-SECONDS-BYTES`.
    package struct Stamp: Hashable, Sendable {
        /// The number of the file on its file system.
        package let file: UInt64
        /// When it was last written to, in seconds since 1970 by the host's clock.
        package let modified: Int64
        package let size: Int64

        package init(file: UInt64, modified: Int64, size: Int64) {
            self.file = file
            self.modified = modified
            self.size = size
        }

        init?(_ text: String) {
            let parts = text.split(separator: "-", omittingEmptySubsequences: false)
            guard parts.count == 3, let file = UInt64(parts[0]), let modified = Int64(parts[1]),
                let size = Int64(parts[2])
            else { return nil }
            self.init(file: file, modified: modified, size: size)
        }

        /// As a request has it.
        var text: String { "\(file)-\(modified)-\(size)" }
    }

    package enum Content: Hashable, Sendable {
        /// It was not written to since the stamp of the request.
        case same
        /// The words of the last events in the part that was read, oldest first.
        case read(Stamp, events: [String])
    }

    package var pid: Int32
    package var content: Content

    package init(pid: Int32, content: Content) {
        self.pid = pid
        self.content = content
    }
}
