/// What an API call can answer instead of its document.
///
/// Made in one place, so that status and exit code agree.
package enum APIError: Error, Hashable, Sendable {
    case hostNotFound(String, suggestion: String?)
    case sessionNotFound(String)
    case hostDisabled(String)
    case badRequest(String)
    case notPermitted(String)
    case methodNotAllowed(String)
    case pathNotFound(String)
    case tooLarge(String)
    case configuration(String)
    /// What was asked does not go with what is.
    case conflict(code: String, message: String, help: String?)
    /// The passphrase opens none of the keys that it is for.
    case wrongPassphrase(String)
    /// The host could not be asked.
    case hostFailed(code: String, message: String, help: String?)
    case failed(code: String, message: String, help: String?)
    case timedOut(String)
    /// The daemon has no room for the request now; asking again later may help.
    case busy(String)
    case stopping

    /// The HTTP status (RFC 9110).
    package var status: Int {
        switch self {
        case .hostNotFound, .sessionNotFound, .pathNotFound: 404
        case .hostDisabled, .conflict: 409
        case .badRequest: 400
        case .notPermitted, .wrongPassphrase: 403
        case .methodNotAllowed: 405
        case .tooLarge: 413
        case .configuration: 422
        case .failed: 500
        case .hostFailed: 502
        case .timedOut: 504
        case .busy, .stopping: 503
        }
    }

    package var document: ErrorDocument {
        switch self {
        case .hostNotFound(let name, let suggestion):
            ErrorDocument(
                code: "host.not-found", message: "there is no host \(name)",
                help: suggestion.map { "did you mean \($0)?" } ?? "hostsctl list")
        case .sessionNotFound(let id):
            ErrorDocument(
                code: "session.not-found", message: "there is no session \(id)", help: "hostsctl list")
        case .hostDisabled(let name):
            ErrorDocument(
                code: "host.disabled", message: "\(name) is disabled", help: "hostsctl enable \(name)")
        case .badRequest(let message): ErrorDocument(code: "request.bad", message: message, help: nil)
        case .notPermitted(let message):
            ErrorDocument(code: "request.not-permitted", message: message, help: nil)
        case .methodNotAllowed(let message):
            ErrorDocument(code: "request.method", message: message, help: nil)
        case .pathNotFound(let path):
            ErrorDocument(code: "request.path", message: "there is nothing at \(path)", help: nil)
        case .tooLarge(let message): ErrorDocument(code: "request.too-large", message: message, help: nil)
        case .configuration(let message):
            ErrorDocument(code: "config.error", message: message, help: "hostsctl status")
        case .wrongPassphrase(let message):
            ErrorDocument(code: "key.wrong-passphrase", message: message, help: nil)
        case .conflict(let code, let message, let help), .hostFailed(let code, let message, let help),
            .failed(let code, let message, let help):
            ErrorDocument(code: code, message: message, help: help)
        case .timedOut(let message): ErrorDocument(code: "timeout", message: message, help: nil)
        case .busy(let message): ErrorDocument(code: "daemon.busy", message: message, help: nil)
        case .stopping: ErrorDocument(code: "daemon.stopping", message: "hostsd is stopping", help: nil)
        }
    }
}
