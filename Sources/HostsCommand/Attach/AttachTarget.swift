/// What `hostsctl attach` is told to attach to: a host, or an agent session on it.
struct AttachTarget: Hashable, Sendable {
    let host: String
    /// The id of a session, its pane such as `%4`, or its place such as `main:0.1`; nil for a shell.
    let session: String?

    /// Reads `HOST`, `HOST:SESSION`, or the id of a session, which begins with its host and a slash.
    init(_ text: String) {
        // No name of a host has either of the two.
        guard let mark = text.firstIndex(where: { $0 == ":" || $0 == "/" }) else {
            host = text
            session = nil
            return
        }
        host = String(text[..<mark])
        session = text[mark] == "/" ? text : String(text[text.index(after: mark)...])
    }
}
