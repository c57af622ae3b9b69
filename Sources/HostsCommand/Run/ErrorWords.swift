import HostsAPI
import HostsModel

/// An error of the client in the words of people: what is wrong, what helps, and the exit code.
struct ErrorWords {
    let message: String
    let hint: String?
    let code: ExitCode

    init(_ error: ClientError) {
        switch error {
        case .socketPathTooLong(let path, let limit):
            message =
                "the socket's path is too long: \(path) has \(path.utf8.count) bytes, \(limit) are possible"
            hint = "name a shorter one with --socket or HOSTSD_SOCKET"
            code = .usage
        case .notRunning(let tried):
            message = "hostsd is not running: nobody answers at \(tried.joined(separator: " or "))"
            hint = "systemctl --user start hostsd"
            code = .notRunning
        case .notPermitted(let socket):
            message = "the socket \(socket) is another user's"
            hint = "use the account that hostsd runs as, or name your own daemon with --socket"
            code = .notPermitted
        case .timedOut(let limit):
            message = "no answer within \(Self.length(limit))"
            hint = "hostsctl status, or a longer --timeout"
            code = .timedOut
        case .deadlinePassed(let limit):
            message = "stopped after \(Self.length(limit)), as --timeout says"
            hint = nil
            code = .timedOut
        case .refused(let status, let document, _):
            message = SafeText.visible(document.error.message, limit: StyledText.foreignLimit)
            hint = document.error.help.map { SafeText.visible($0, limit: StyledText.foreignLimit) }
            code = Self.code(status: status, document.error.code)
        case .connectionLost(let detail):
            message = "the connection to hostsd broke: \(SafeText.visible(detail))"
            hint = "hostsctl status"
            code = .failure
        case .streamEnded:
            message = "hostsd ended the stream"
            hint = nil
            code = .failure
        case .heartbeatMissed(let silence):
            message = "hostsd was silent for \(Self.length(silence))"
            hint = "hostsctl status"
            code = .timedOut
        case .badAnswer(let detail):
            message = "the answer cannot be understood: \(SafeText.visible(detail))"
            hint = "hostsctl version shows whether hostsctl and hostsd fit together"
            code = .failure
        case .tooLarge(let limit):
            message = "the answer is larger than \(ByteCount.bytes(limit))"
            hint = nil
            code = .failure
        case .unavailable(let detail):
            message = SafeText.visible(detail)
            hint = nil
            code = .failure
        }
    }

    /// By the stable code where the daemon has one, else by the status.
    private static func code(status: Int, _ code: String) -> ExitCode {
        switch code {
        case "host.not-found", "session.not-found": return .notFound
        case "config.error", "config.broken": return .badConfiguration
        case "request.not-permitted", "host.disabled", "hostkey.other", "hostkey.changed", "hostkey.revoked":
            return .notPermitted
        case "request.bad", "host.bad-name": return .usage
        case "timeout": return .timedOut
        case "daemon.stopping": return .notRunning
        default: break
        }
        switch status {
        case 403: return .notPermitted
        case 422: return .badConfiguration
        case 504: return .timedOut
        default: return .failure
        }
    }

    private static func length(_ duration: Duration) -> String {
        // Whole milliseconds: 0.3 s is no binary fraction.
        let seconds = (duration.seconds * 1000).rounded() / 1000
        return seconds == seconds.rounded() ? "\(Int(seconds)) s" : "\(seconds) s"
    }
}
