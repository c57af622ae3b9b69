import HostsConfig
import Testing

@Suite struct NearestNameTests {
    static let keys = [
        "ssh", "label", "enabled", "background_keep_alive", "session_restore", "transport", "tags",
        "timeout_seconds",
    ]

    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let nearest: String?
        var testDescription: String { "\(name) -> \(nearest ?? "nothing")" }
    }

    @Test(arguments: [
        Case(name: "enabld", nearest: "enabled"),
        Case(name: "enalbed", nearest: "enabled"),
        Case(name: "Enabled", nearest: "enabled"),
        Case(name: "background-keep-alive", nearest: "background_keep_alive"),
        Case(name: "backgroundKeepAlive", nearest: "background_keep_alive"),
        Case(name: "shs", nearest: "ssh"),
        Case(name: "tag", nearest: "tags"),
        Case(name: "transprot", nearest: "transport"),
        Case(name: "timeout", nearest: "timeout_seconds"),
        Case(name: "timeuot", nearest: "timeout_seconds"),
        Case(name: "timeout_second", nearest: "timeout_seconds"),
        Case(name: "colour", nearest: nil),
        Case(name: "x", nearest: nil),
        Case(name: "", nearest: nil),
        Case(name: "ssh", nearest: nil),
        Case(name: String(repeating: "e", count: 5000), nearest: nil),
    ])
    func suggestion(_ c: Case) {
        #expect(NearestName.suggestion(for: c.name, among: Self.keys.filter { $0 != c.name }) == c.nearest)
    }
}
