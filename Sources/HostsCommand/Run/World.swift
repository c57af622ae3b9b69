package import HostsAPI
package import HostsModel

/// Everything that the program finds around it; the executable brings the real one.
package struct World {
    package var environment: [String: String]
    package var outputIsTerminal: Bool
    package var errorIsTerminal: Bool
    /// Columns that the terminal says it has; 0 if it says nothing.
    package var terminalColumns: Int
    package var localTime: LocalTime
    package var now: () -> WallTime
    /// Whether a path names anything.
    package var exists: (String) -> Bool
    /// The names of the files in a folder; empty if it cannot be read.
    package var fileNames: (String) -> [String]
    /// The folder of the rules that came with the program.
    package var shippedRules: String
    /// Reads a captured screen, at most `CaptureFailure.limit`; `-` is standard input.
    package var readCapture: (String) throws(CaptureFailure) -> [UInt8]
    /// Opens the way to the daemon at a socket.
    package var makeTransport: (String) throws(ClientError) -> any DaemonTransport
    /// Blocks for a while.
    package var pause: (Duration) -> Void
    package var console: any Console
    package var attach: AttachParts

    package init(
        environment: [String: String], outputIsTerminal: Bool, errorIsTerminal: Bool, terminalColumns: Int,
        localTime: LocalTime, now: @escaping () -> WallTime, exists: @escaping (String) -> Bool,
        fileNames: @escaping (String) -> [String], shippedRules: String,
        readCapture: @escaping (String) throws(CaptureFailure) -> [UInt8],
        makeTransport: @escaping (String) throws(ClientError) -> any DaemonTransport,
        pause: @escaping (Duration) -> Void, console: any Console, attach: AttachParts
    ) {
        self.environment = environment
        self.outputIsTerminal = outputIsTerminal
        self.errorIsTerminal = errorIsTerminal
        self.terminalColumns = terminalColumns
        self.localTime = localTime
        self.now = now
        self.exists = exists
        self.fileNames = fileNames
        self.shippedRules = shippedRules
        self.readCapture = readCapture
        self.makeTransport = makeTransport
        self.pause = pause
        self.console = console
        self.attach = attach
    }

    /// Cells of a line on the terminal, or nil for a pipe.
    ///
    /// `COLUMNS` has the last word, 80 the first guess.
    var outputWidth: Int? {
        guard outputIsTerminal else { return nil }
        if let columns = environment["COLUMNS"].flatMap({ Int($0) }), columns > 0 { return columns }
        return terminalColumns > 0 ? terminalColumns : 80
    }
}
