import HostsModel
import Testing

@testable import HostsCommand

@Suite struct TextTests {
    @Test(arguments: [
        ("abc", 3), ("日本", 4), ("é", 1), ("e\u{301}", 1), ("●", 1), ("…", 1), ("🟡", 2), ("\u{fe0f}", 0),
    ])
    func `a text takes its cells`(text: String, cells: Int) {
        #expect(CellWidth.of(text) == cells)
    }

    @Test(arguments: [
        ("abcdef", 6, "abcdef"), ("abcdef", 5, "abcd…"), ("日本語", 5, "日本…"), ("日本語", 4, "日…"), ("abc", 1, "…"),
        ("abc", 0, ""), ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"),
    ])
    func `a cut text fits and ends with an ellipsis`(text: String, cells: Int, expected: String) {
        let cut = StyledText(text).fitted(to: cells)
        #expect(cut.text == expected)
        #expect(cut.cells <= cells)
    }

    @Test func `text of others cannot move the cursor`() {
        let text = StyledText(foreign: "a\u{1b}[2Jb\rc\u{202e}d\u{9b}1me", .bad)
        #expect(text.text == "a\\u{1b}[2Jb c\\u{202e}d\\u{9b}1me")
        #expect(text.rendered(colour: true) == "\u{1b}[31m\(text.text)\u{1b}[0m")
    }

    private var table: Table {
        var table = Table("A", "B", "EMPTY", "C")
        table.add(["first", "日本語", "", "a long last column"])
        table.add(["second one", "x", "", "short"])
        return table
    }

    @Test func `columns are aligned by cells, and an empty column is left out`() {
        #expect(
            table.lines(width: nil, heading: true).map(\.text) == [
                "A           B       C",
                "first       日本語  a long last column",
                "second one  x       short",
            ])
    }

    @Test(arguments: 1...60)
    func `on a terminal no line is wider than it, but for the first column`(width: Int) {
        for line in table.lines(width: width, heading: true) { #expect(line.cells <= max(width, 10)) }
    }

    @Test func `the last column is shortened first, then dropped`() {
        #expect(table.lines(width: 34, heading: false)[0].text == "first       日本語  a long last c…")
        #expect(table.lines(width: 31, heading: false)[0].text == "first       日本語")
        #expect(table.lines(width: 5, heading: false)[0].text == "first")
        #expect(table.lines(width: 5, heading: false)[1].text == "second one")
    }

    @Test func `a table without rows is nothing`() {
        #expect(Table("A").lines(width: nil, heading: true).isEmpty)
    }

    @Test(arguments: [
        (-5, "now", "0 s"), (0, "now", "0 s"), (1, "1 s ago", "1 s"), (59, "59 s ago", "59 s"),
        (60, "1 min ago", "1 min"), (3599, "59 min ago", "59 min"), (3600, "1 h ago", "1 h"),
        (172_799, "47 h ago", "47 h"), (172_800, "2 d ago", "2 d"), (1_000_000_000, "11574 d ago", "11574 d"),
    ])
    func `an age has one unit and is cut, not rounded`(seconds: Int, ago: String, length: String) {
        #expect(Age.ago(.seconds(seconds)) == ago)
        #expect(Age.length(.seconds(seconds)) == length)
    }

    @Test(arguments: [
        (0.0, "0.00 s"), (0.214, "0.21 s"), (12.999, "13.00 s"), (-1, "? s"), (.nan, "? s"),
        (.infinity, "? s"),
    ])
    func `a short length keeps its fraction`(seconds: Double, text: String) {
        #expect(Age.precise(seconds: seconds) == text)
    }

    @Test(arguments: [
        (0 as Int64, 0, "1970-01-01 00:00:00"), (-1, 0, "1969-12-31 23:59:59"),
        (1_796_068_800_123, 0, "2026-11-30 20:00:00"),
        (1_796_068_800_123, 5 * 3600 + 1800, "2026-12-01 01:30:00"),
        (951_782_400_000, 0, "2000-02-29 00:00:00"), (4_107_542_400_000, 0, "2100-03-01 00:00:00"),
        (1_796_068_800_000, -72_001, "2026-11-29 23:59:59"),
    ])
    func `a time is shown where the person is`(milliseconds: Int64, offset: Int, text: String) {
        let local = LocalTime { _ in offset }
        #expect(local.dateAndTime(WallTime(milliseconds: milliseconds)) == text)
    }

    struct Colour: Sendable, CustomTestStringConvertible {
        let option: String
        let environment: [String: String]
        let onTerminal: Bool
        let inPipe: Bool

        init(_ option: String, _ environment: [String: String], terminal: Bool, pipe: Bool) {
            self.option = option
            self.environment = environment
            onTerminal = terminal
            inPipe = pipe
        }

        var testDescription: String { "--color=\(option) \(environment.sorted { $0.key < $1.key })" }
    }

    @Test(arguments: [
        Colour("auto", [:], terminal: true, pipe: false),
        Colour("always", ["NO_COLOR": "1", "TERM": "dumb"], terminal: true, pipe: true),
        Colour("never", ["CLICOLOR_FORCE": "1"], terminal: false, pipe: false),
        Colour("auto", ["NO_COLOR": "1", "CLICOLOR_FORCE": "1"], terminal: false, pipe: false),
        Colour("auto", ["NO_COLOR": ""], terminal: true, pipe: false),
        Colour("auto", ["CLICOLOR_FORCE": "1", "CLICOLOR": "0"], terminal: true, pipe: true),
        Colour("auto", ["CLICOLOR_FORCE": "0"], terminal: true, pipe: false),
        Colour("auto", ["CLICOLOR": "0"], terminal: false, pipe: false),
        Colour("auto", ["TERM": "dumb"], terminal: false, pipe: false),
    ])
    func `colour follows the option, then the variables, then the terminal`(_ c: Colour) throws {
        for (width, expected) in [(80, c.onTerminal), (nil, c.inPipe)] as [(Int?, Bool)] {
            var stage = Stage(daemon: try Documents.daemon(), width: width)
            stage.environment.merge(c.environment) { $1 }
            let result = stage.run("list", "--color", c.option)
            #expect(result.output.contains("\u{1b}[") == expected)
        }
    }

    @Test(arguments: [("100", 100), ("0", 66), ("x", 66), ("-3", 66)])
    func `COLUMNS has the last word on a terminal`(value: String, width: Int) throws {
        var stage = Stage(daemon: try Documents.daemon(), width: 66)
        stage.environment["COLUMNS"] = value
        let expected = Stage(daemon: try Documents.daemon(), width: width).run("sessions").output
        #expect(stage.run("sessions").output == expected)
        stage.width = nil
        #expect(stage.run("list").output == Stage(daemon: try Documents.daemon()).run("list").output)
    }
}
