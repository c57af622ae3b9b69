/// What a piece of text means, from which its colour follows.
///
/// The meaning is always in the words too.
enum Ink: Hashable, Sendable {
    case plain
    /// Headings, and what is of the past.
    case faint
    case strong
    /// All is well.
    case good
    /// Work goes on.
    case active
    /// Not well, but it mends itself.
    case caution
    /// Does not mend itself.
    case bad
    /// The person is needed.
    case attention

    /// The parameters of SGR (ECMA-48 8.3.117); nil for none.
    private var parameters: String? {
        switch self {
        case .plain: nil
        case .faint: "2"
        case .strong: "1"
        case .good: "32"
        case .active: "36"
        case .caution: "33"
        case .bad: "31"
        case .attention: "1;30;43"
        }
    }

    /// The text with its colour around it.
    func paint(_ text: String) -> String {
        guard let parameters, !text.isEmpty else { return text }
        return "\u{1b}[\(parameters)m\(text)\u{1b}[0m"
    }
}
