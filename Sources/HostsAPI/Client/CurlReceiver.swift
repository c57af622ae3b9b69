import HostsModel

/// Collects the bytes of one response, whole or by lines.
final class CurlReceiver {
    private let limits: ClientLimits
    private var lines: LineBuffer
    private var complete: [[UInt8]] = []
    private(set) var body: [UInt8] = []
    private(set) var failure: ClientError?
    /// Whether the blank line after the head has come: libcurl takes a connection that ends before it for an answer.
    private(set) var hasWholeHead = false
    /// When the last byte came.
    private(set) var lastActivity: ContinuousClock.Instant
    /// The HTTP status of the response; set for the time of a transfer.
    var status: () -> Int = { 0 }
    private let wantsLines: Bool

    /// Makes an empty receiver.
    ///
    /// - Parameters:
    ///   - limits: How much to take.
    ///   - wantsLines: Whether a response of status 200 is a stream of lines; any other is one document.
    ///   - now: When the request is sent.
    init(limits: ClientLimits, wantsLines: Bool, now: ContinuousClock.Instant) {
        self.limits = limits
        self.wantsLines = wantsLines
        lines = LineBuffer(limit: limits.line.bytes)
        lastActivity = now
    }

    /// Takes one line of the head.
    func receive(head line: UnsafeRawBufferPointer) {
        lastActivity = .now
        if line.count <= 2 { hasWholeHead = true }
    }

    func receive(_ piece: UnsafeRawBufferPointer) -> Bool {
        lastActivity = .now
        guard wantsLines, status() == 200 else {
            guard body.count + piece.count <= limits.response.bytes else {
                failure = .tooLarge(limit: limits.response.bytes)
                return false
            }
            body.append(contentsOf: piece)
            return true
        }
        do {
            try lines.append(piece, to: &complete)
            return true
        } catch {
            failure = error
            return false
        }
    }

    /// The lines that are complete; each is given once.
    func takeLines() -> [[UInt8]] {
        defer { complete.removeAll() }
        return complete
    }
}
