import HostsModel

/// Finds one framed reply in the output of a shell, however it is cut into chunks.
///
/// Everything before the begin marker is noise (what login files print); the body ends before the line feed
/// that precedes the end marker. Markers count at the start of a line and with the right nonce only.
struct ShellReplyParser: Sendable {
    /// Most bytes before the begin marker.
    static let noiseLimit = ByteCount.kibibytes(64)
    /// What is kept of them for a message, in bytes.
    private static let noiseKept = 240
    /// The status and its line feed: 0–255.
    private static let statusLimit = 4

    enum Failure: Error, Hashable, Sendable {
        case tooMuchNoise, bodyTooLong, badEndMarker
    }

    enum Outcome: Hashable, Sendable {
        case incomplete
        case complete(ProbeReply)
        case failed(Failure)
    }

    private enum State {
        /// Before the begin marker. Can become `body`, `finished`.
        case noise
        /// After it. Can become `finished`.
        case body
        case finished(Outcome)
    }

    private let nonce: String
    private let begin: [UInt8]
    private let end: [UInt8]
    private var state = State.noise
    private var noiseCount = 0
    private var noiseHead: [UInt8] = []
    /// In `noise` the line that is not ended, cut to what a marker could be; in `body` the whole body.
    private var buffer: [UInt8] = []
    /// In `body`: where the line begins that may yet become the end marker, and how far it was searched.
    private var lineStart = 0
    private var searched = 0

    init(nonce: String) {
        self.nonce = nonce
        begin = Array((ShellProtocol.beginMarker + nonce).utf8)
        end = Array((ShellProtocol.endMarker + nonce + " ").utf8)
    }

    /// The beginning of the noise, for a message.
    var noise: String { SafeText.visible(bytes: noiseHead) }

    /// Takes the next bytes; what follows the end marker is dropped.
    mutating func consume(_ bytes: some Collection<UInt8>) -> Outcome {
        var rest = Array(bytes)[...]
        if case .noise = state { rest = skipNoise(rest) }
        if case .body = state {
            buffer += rest
            scanBody()
        }
        guard case .finished(let outcome) = state else { return .incomplete }
        return outcome
    }

    private mutating func skipNoise(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        for index in bytes.indices {
            let byte = bytes[index]
            noiseCount += 1
            if noiseHead.count < Self.noiseKept, byte != 0x0a || !noiseHead.isEmpty { noiseHead.append(byte) }
            if byte == 0x0a {
                let isMarker = buffer == begin
                buffer = []
                guard isMarker else { continue }
                state = .body
                return bytes[(index + 1)...]
            }
            if buffer.count <= begin.count { buffer.append(byte) }
            guard noiseCount <= Self.noiseLimit.bytes else {
                state = .finished(.failed(.tooMuchNoise))
                return []
            }
        }
        return []
    }

    private mutating func scanBody() {
        while true {
            // The end marker always has a line feed of its own before it, so it is never the first line.
            if lineStart > 0 {
                let line = buffer[lineStart...]
                let known = line.prefix(end.count)
                if end.starts(with: known) {
                    guard known.count == end.count else { return checkLength() }
                    return finish(status: line.dropFirst(end.count).prefix(Self.statusLimit))
                }
            }
            guard let lineFeed = buffer[max(lineStart, searched)...].firstIndex(of: 0x0a) else {
                searched = buffer.count
                return checkLength()
            }
            lineStart = lineFeed + 1
        }
    }

    private mutating func checkLength() {
        // The line that may become the end marker, and the line feed before it, are not body yet.
        let undecided = lineStart > 0 && end.starts(with: buffer[lineStart...].prefix(end.count))
        let length = undecided ? lineStart - 1 : buffer.count
        // One more for the line feed that may turn out to precede the marker.
        if length > ProbeReply.bodyLimit.bytes + 1 { state = .finished(.failed(.bodyTooLong)) }
    }

    private mutating func finish(status: ArraySlice<UInt8>) {
        let digits = status.prefix { $0 != 0x0a }
        guard digits.count < status.count else {
            // The rest of the line has not come yet, or it is longer than any status.
            if status.count >= Self.statusLimit { state = .finished(.failed(.badEndMarker)) }
            return
        }
        guard let number = UInt8(String(decoding: digits, as: UTF8.self)) else {
            state = .finished(.failed(.badEndMarker))
            return
        }
        buffer.removeSubrange((lineStart - 1)...)
        guard buffer.count <= ProbeReply.bodyLimit.bytes else {
            state = .finished(.failed(.bodyTooLong))
            return
        }
        state = .finished(.complete(ProbeReply(nonce: nonce, body: buffer, status: Int32(number))))
    }
}

extension ShellReplyParser.Failure {
    /// What is wrong, in words.
    var detail: String {
        switch self {
        case .tooMuchNoise: "more than \(ShellReplyParser.noiseLimit) came before the reply"
        case .bodyTooLong: "it is longer than \(ProbeReply.bodyLimit)"
        case .badEndMarker: "its end marker is damaged"
        }
    }
}
