import CLinux
import HostsModel

/// What is written to a `/bin/sh` at the other end: definitions once, then one line per request.
///
/// Each reply is framed by two marker lines with a nonce that the host cannot know beforehand, so that
/// neither what login files print nor what a screen shows can be taken for a marker.
package enum ShellProtocol {
    /// What the link executes on a host: whatever the login shell is, it hands over to a POSIX shell.
    static let command = "exec /bin/sh"
    static let beginMarker = "@@hostsd-begin "
    static let endMarker = "@@hostsd-end "
    /// Longest request, in bytes: well below what a link may queue.
    static let requestLimit = ByteCount.kibibytes(64)

    /// A fresh nonce: 128 bits from the system's generator, as 32 hexadecimal digits.
    static func makeNonce() -> String {
        var words: [UInt64] = [0, 0]
        let code = unsafe words.withUnsafeMutableBytes { unsafe hosts_random($0.baseAddress, $0.count) }
        precondition(code == 0, "getrandom(2) gives 16 bytes once the system has started")
        return words.map { word in
            let digits = String(word, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }

    /// The bytes that define the functions of a program.
    static func definitions(_ program: ShellProgram) -> [UInt8] { Array((program.definitions + "\n").utf8) }

    /// The line that runs a request.
    static func line(_ request: ProbeRequest, nonce: String) -> [UInt8] {
        precondition(isName(request.function), "requests name functions of our own program")
        let words = [request.function, nonce] + request.arguments.map(quoted)
        return line(running: words.joined(separator: " "), nonce: nonce)
    }

    /// The line that asks whether a POSIX shell listens.
    static func checkLine(nonce: String) -> [UInt8] { line(running: ":", nonce: nonce) }

    /// The script of a shell that serves one request and then ends.
    static func script(_ program: ShellProgram, _ line: [UInt8]) -> [UInt8] {
        definitions(program) + line + Array("exit 0\n".utf8)
    }

    private static func line(running command: String, nonce: String) -> [UInt8] {
        // Both markers begin a line whatever was printed before them; the parser takes that line feed back.
        let text = """
            printf '\\n\(beginMarker)%s\\n' \(nonce); \(command) </dev/null; \
            printf '\\n\(endMarker)%s %d\\n' \(nonce) "$?"

            """
        return Array(text.utf8)
    }

    /// One word for a POSIX shell, whatever it holds.
    ///
    /// NUL, which no argument can carry, is left out.
    package static func quoted(_ argument: String) -> String {
        var result = "'"
        for scalar in argument.unicodeScalars where scalar.value != 0 {
            if scalar == "'" { result += "'\\''" } else { result.unicodeScalars.append(scalar) }
        }
        return result + "'"
    }

    private static func isName(_ text: String) -> Bool {
        guard let first = text.utf8.first, !(0x30...0x39).contains(first) else { return false }
        return text.utf8.allSatisfy {
            (0x61...0x7a).contains($0) || (0x41...0x5a).contains($0) || (0x30...0x39).contains($0)
                || $0 == 0x5f
        }
    }
}
