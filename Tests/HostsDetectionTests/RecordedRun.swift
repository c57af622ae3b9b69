import Foundation
import HostsDetection
import HostsModel
import Testing

/// A run of one agent as looks see it: a text file, so that anybody can add one.
///
///     agent NAME            first of all
///     title TEXT            what follows holds until it is changed
///     file STATUS DETAIL    the state file of Claude Code; `nofile`: there is none
///     log N EVENT...        the turn log, written to for the Nth time; its last events
///     stopped, running      Ctrl-Z, and fg
///     look SECONDS          begins a look; what stands below it, up to the next, is so from then on
///     screen NAME           a captured screen
///     | ROW                 or its rows
///     undrawn               tmux draws nothing in this look
///     cut                   the reply of this look is cut
///     gone                  the process ends
///     state WORD            what is published after the look; `not WORD`: what is not
///     expect EDGE...        the edges of the look; without it there are none
struct RecordedRun: Sendable, CustomTestStringConvertible {
    struct Look: Sendable {
        var seconds: Int64
        var changes: [[String]] = []
        var rows: [String] = []
        var isCut = false
        var isDrawn = true
        var state: String?
        var notState: String?
        var edges: [String] = []
    }

    let name: String
    let agent: String
    let start: [[String]]
    let looks: [Look]

    var testDescription: String { name }

    static let all: [RecordedRun] = {
        let folder = Bundle.module.url(forResource: "runs", withExtension: nil, subdirectory: "Fixtures")
        let names = folder.flatMap { try? FileManager.default.contentsOfDirectory(atPath: $0.path) } ?? []
        return names.sorted().compactMap { name in
            guard let file = folder?.appending(path: name),
                let text = try? String(contentsOf: file, encoding: .utf8)
            else { return nil }
            return RecordedRun(name: String(name.dropLast(4)), text: text)
        }
    }()

    /// Nil for a file that is none, which the count of all notices.
    init?(name: String, text: String) {
        var start: [[String]] = []
        var looks: [Look] = []
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            if line.hasPrefix("|") {
                guard !looks.isEmpty else { return nil }
                looks[looks.count - 1].rows.append(String(line.dropFirst(line.hasPrefix("| ") ? 2 : 1)))
                continue
            }
            // A title keeps its blanks.
            let words =
                line.hasPrefix("title ")
                ? ["title", String(line.dropFirst(6))] : line.split(separator: " ").map(String.init)
            if words[0] == "look" {
                guard words.count == 2, let seconds = Int64(words[1]) else { return nil }
                looks.append(Look(seconds: seconds))
            } else if looks.isEmpty {
                start.append(words)
            } else if !Self.add(words, to: &looks[looks.count - 1]) {
                return nil
            }
        }
        guard start.first?.first == "agent", start[0].count == 2, !looks.isEmpty else { return nil }
        self.name = name
        agent = start[0][1]
        self.start = Array(start.dropFirst())
        self.looks = looks
    }

    private static func add(_ words: [String], to look: inout Look) -> Bool {
        switch words[0] {
        case "cut": look.isCut = true
        case "undrawn": look.isDrawn = false
        case "state": look.state = words.dropFirst().first
        case "not": look.notState = words.dropFirst().first
        case "expect": look.edges.append(words.dropFirst().joined(separator: " "))
        case "title", "file", "nofile", "log", "stopped", "running", "screen", "gone":
            look.changes.append(words)
        default: return false
        }
        return true
    }
}

/// A host on which one recorded run happens.
struct RunningHost {
    private(set) var host = FakeHost()
    private static let pid: Int32 = 111

    init(_ run: RecordedRun) throws {
        host.addPane(1, title: "", screen: [], command: [run.agent])
        for change in run.start { try apply(change) }
    }

    mutating func begin(_ look: RecordedRun.Look) throws {
        for change in look.changes { try apply(change) }
        if !look.rows.isEmpty { host.show(1, screen: Array(look.rows.joined(separator: "\n").utf8)) }
        guard !host.panes.isEmpty else { return }
        host.panes[0].isDrawable = look.isDrawn
        if !look.isDrawn { host.panes[0].activity += 1 }
    }

    private mutating func apply(_ words: [String]) throws {
        switch words[0] {
        case "title": host.show(1, title: words[1], screen: host.panes[0].screen)
        case "screen":
            let captured = try #require(CapturedScreen.all.first { $0.file == words[1] + ".txt" })
            host.show(1, screen: try captured.capture())
        case "file":
            let detail = words.dropFirst(2).joined(separator: " ")
            let json = #"{"procStart":"5000","status":"\#(words[1])","waitingFor":"\#(detail)"}"#
            host.stateFiles = [(agent: "claude", pid: Self.pid, json: json)]
        case "nofile": host.stateFiles = []
        case "log":
            let number = try #require(Int(words[1]))
            host.turnLogs = [
                (pid: Self.pid, stamp: "7-\(1_000 + number)-\(number)", events: Array(words.dropFirst(2)))
            ]
        case "stopped":
            host.change(1) {
                $0.state = "T"
                $0.foreground = $0.group - 1
            }
        case "running":
            host.change(1) {
                $0.state = "S"
                $0.foreground = $0.group
            }
        case "gone": host.endProgram(1)
        default: throw UnknownWord(word: words[0])
        }
    }

    struct UnknownWord: Error {
        let word: String
    }
}
