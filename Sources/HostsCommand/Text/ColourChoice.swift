/// Whether output is coloured: the option, then `NO_COLOR`, `CLICOLOR_FORCE`, `CLICOLOR` and `TERM`, then the
/// terminal.
enum ColourChoice: String, Hashable, Sendable, CaseIterable {
    case auto, always, never

    /// Decides for one stream.
    ///
    /// - Parameters:
    ///   - environment: The process's variables.
    ///   - isTerminal: Whether this stream is one.
    /// - Returns: Whether to colour it.
    func isColoured(environment: [String: String], isTerminal: Bool) -> Bool {
        switch self {
        case .always: return true
        case .never: return false
        case .auto: break
        }
        if let value = environment["NO_COLOR"], !value.isEmpty { return false }
        if let value = environment["CLICOLOR_FORCE"], !value.isEmpty, value != "0" { return true }
        if environment["CLICOLOR"] == "0" || environment["TERM"] == "dumb" { return false }
        return isTerminal
    }
}
