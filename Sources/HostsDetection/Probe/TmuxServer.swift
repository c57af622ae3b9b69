/// What one tmux server answered.
package struct TmuxServer: Hashable, Sendable {
    /// How the request to it ended.
    package enum Answer: Hashable, Sendable {
        case served
        /// Nothing listens on the socket.
        case notRunning
        case timedOut
        /// It was not asked: too many servers, or others hung.
        case skipped
        /// The reply was full before it came to its end.
        case cut
        case failed(status: Int)
    }

    /// The path of its socket.
    package var socket: String
    package var answer: Answer
    /// Whether the list of panes is whole.
    package var isListed: Bool
    package var pid: Int32
    /// Seconds since 1970 on the host, when the server was asked.
    package var now: Int64
    package var version: String
    package var clients: [TmuxClient]
    package var panes: [TmuxPane]
    /// The drawn panes, by tmux's name of the pane, such as `%4`.
    package var captures: [String: Capture]

    package init(
        socket: String, answer: Answer = .cut, isListed: Bool = false, pid: Int32 = 0, now: Int64 = 0,
        version: String = "", clients: [TmuxClient] = [], panes: [TmuxPane] = [],
        captures: [String: Capture] = [:]
    ) {
        self.socket = socket
        self.answer = answer
        self.isListed = isListed
        self.pid = pid
        self.now = now
        self.version = version
        self.clients = clients
        self.panes = panes
        self.captures = captures
    }

    /// What was drawn of a pane.
    package enum Capture: Hashable, Sendable {
        /// The rows, as bytes with line feeds; at most `ReplyParser.rowLimit` of them.
        case screen([UInt8])
        /// Nothing was written to its window since the stamp in the request.
        case same
    }
}

/// A terminal that shows a tmux session.
package struct TmuxClient: Hashable, Sendable {
    package var pid: Int32
    /// When a key was last pressed there, in seconds since 1970 on the host.
    package var activity: Int64
    package var tty: String
    /// The pane that has its focus.
    package var pane: String
    package var session: String

    package init(pid: Int32, activity: Int64, tty: String, pane: String, session: String) {
        self.pid = pid
        self.activity = activity
        self.tty = tty
        self.pane = pane
        self.session = session
    }
}

/// One pane of a tmux server.
package struct TmuxPane: Hashable, Sendable {
    /// tmux's own name, such as `%4`.
    package var id: String
    /// The process that the pane was opened with: the leader of the session on its terminal.
    package var pid: Int32
    package var tty: String
    package var isDead: Bool
    package var isInMode: Bool
    package var hasBell: Bool
    /// When something was last written to its window, in seconds since 1970 on the host.
    package var activity: Int64
    package var width: Int
    package var height: Int
    /// `session:window.pane`.
    package var label: String
    /// The title that its program has set, or the one before it: a title outlives its program.
    package var title: String

    package init(
        id: String, pid: Int32, tty: String = "", isDead: Bool = false, isInMode: Bool = false,
        hasBell: Bool = false, activity: Int64 = 0, width: Int = 0, height: Int = 0, label: String = "",
        title: String = ""
    ) {
        self.id = id
        self.pid = pid
        self.tty = tty
        self.isDead = isDead
        self.isInMode = isInMode
        self.hasBell = hasBell
        self.activity = activity
        self.width = width
        self.height = height
        self.label = label
        self.title = title
    }
}
