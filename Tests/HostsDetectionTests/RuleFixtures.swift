import Foundation
import HostsConfig
import HostsDetection
import HostsModel
import Testing

/// The rules that are shipped, and the captured screens.
enum RuleFixtures {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    static let shipped = AgentRulesFolder.load(
        shipped: root.appending(path: "Config/agents.d").path, own: nil)

    static var book: RuleBook { shipped.book }

    /// The rules of a file that a test has written.
    static func compile(_ text: String) throws -> CompiledRules {
        let (rules, diagnostics) = AgentRulesFile.compile(bytes: Array(text.utf8), file: "test.toml")
        return try #require(rules, "\(diagnostics)")
    }

    static func rules(_ agent: String) throws -> CompiledRules {
        try #require(shipped.book.agents.first { $0.rules.name.rawValue == agent })
    }
}

/// One line of the index of screens.
struct CapturedScreen: Sendable, CustomTestStringConvertible {
    let file: String
    let agent: String
    let state: String
    let title: String
    let command: String

    var testDescription: String { file }

    static let all: [CapturedScreen] = {
        guard
            let index = Bundle.module.url(
                forResource: "INDEX", withExtension: "tsv", subdirectory: "Fixtures/screens"),
            let text = try? String(contentsOf: index, encoding: .utf8)
        else { return [] }
        return text.split(separator: "\n").dropFirst().map { line in
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            return CapturedScreen(
                file: fields[0], agent: fields[1], state: fields[2], title: fields[3], command: fields[4])
        }
    }()

    /// The arguments of the process in the pane's foreground, as its kind of installation gives them.
    var arguments: [String] {
        switch command {
        case "node": ["node", Self.scripts[agent] ?? "/srv/app/server.js"]
        case "MainThread":
            ["/home/dev/.local/share/\(agent)-agent/versions/2026.07.20/node", Self.scripts[agent] ?? ""]
        case "python3": ["/usr/bin/python3", "/home/dev/.local/bin/\(agent)"]
        default: [command]
        }
    }

    private static let scripts = [
        "auggie": "/usr/lib/node_modules/@augmentcode/auggie/augment.mjs",
        "codex": "/usr/lib/node_modules/@openai/codex/bin/codex.js",
        "cursor": "/home/dev/.local/share/cursor-agent/versions/2026.07.20/index.js",
        "gemini": "/usr/lib/node_modules/@google/gemini-cli/dist/index.js",
        "qwen": "/usr/lib/node_modules/@qwen-code/qwen-code/dist/cli.js",
    ]

    func capture() throws -> [UInt8] {
        let name = URL(filePath: file).deletingPathExtension().lastPathComponent
        let url = try #require(
            Bundle.module.url(forResource: name, withExtension: "txt", subdirectory: "Fixtures/screens"))
        return Array(try Data(contentsOf: url))
    }

    /// The rows without those that are empty at the end.
    func rows() throws -> [String] {
        var rows = String(decoding: try capture(), as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        while rows.last?.allSatisfy({ $0 == " " }) == true { rows.removeLast() }
        return rows
    }
}

extension ScreenReading {
    /// The state in the words of the index of screens.
    var word: String {
        switch meaning {
        case .busy: "busy"
        case .idle: "idle"
        case .needsYou: "waiting"
        case .previous: "previous"
        case nil: "unknown"
        }
    }
}
