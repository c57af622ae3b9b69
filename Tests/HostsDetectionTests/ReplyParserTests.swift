import Foundation
import HostsDetection
import HostsModel
import HostsTestSupport
import Testing

@Suite(.serialized, .ownThread) struct ReplyParserTests {
    private static func whole() -> (body: [UInt8], nonce: String) {
        var host = FakeHost()
        host.addPane(
            1, title: "⠂ a | b; c", screen: Array("row one\n@n0nc not a mark\nlast".utf8), command: ["claude"]
        )
        host.addPane(2, title: "", screen: [], command: ["node", "/usr/bin/codex"], name: "MainThread")
        host.stateFiles = [(agent: "claude", pid: 111, json: #"{"pid":111}"#)]
        let request = ProbeRequest(
            function: "hostsd_probe",
            arguments: ["capture:%1:0:/tmp/tmux-1000/default", "capture:%2:1000:/tmp/tmux-1000/default"])
        return (host.body(request), host.nonce)
    }

    @Test func `a whole reply gives all of its facts`() throws {
        let (body, nonce) = Self.whole()
        let report = try ReplyParser.parse(body, nonce: nonce)
        #expect(report.kind == .probe)
        #expect(report.system == "Linux 6.1 box")
        #expect(report.bootID == "b00t")
        #expect(report.user == 1000)
        #expect(report.processes.map(\.pid) == [9, 110, 111, 120, 121])
        let claude = try #require(report.processes.first { $0.pid == 111 })
        #expect(claude.parent == 110)
        #expect(claude.isForeground)
        #expect(claude.terminalName == "pts/1")
        #expect(claude.startTime == "5000")
        #expect(claude.arguments == ["claude"])
        #expect(report.stateFiles.map(\.pid) == [111])
        let server = try #require(report.servers.first)
        #expect(server.answer == .served)
        #expect(server.isListed)
        #expect(server.now == 1_100)
        #expect(server.panes.map(\.title) == ["⠂ a | b; c", ""])
        #expect(server.panes.map(\.label) == ["main:0.1", "main:0.2"])
        #expect(server.captures["%1"] == .screen(Array("row one\n@n0nc not a mark\nlast".utf8)))
        #expect(server.captures["%2"] == .same)
    }

    @Test func `every beginning of a reply is an error`() {
        let (body, nonce) = Self.whole()
        // The last line feed is not needed.
        for length in 0..<(body.count - 1) {
            #expect(throws: ReplyError.self) {
                _ = try ReplyParser.parse(Array(body.prefix(length)), nonce: nonce)
            }
        }
    }

    @Test func `a reply without a piece of its middle is read or refused, and invents nothing`() throws {
        let (body, nonce) = Self.whole()
        let whole = try ReplyParser.parse(body, nonce: nonce)
        for start in stride(from: 0, to: body.count, by: 7) {
            let rest = Array(body.prefix(start) + body.dropFirst(start + 40))
            guard let report = try? ReplyParser.parse(rest, nonce: nonce) else { continue }
            #expect(report.processes.count <= whole.processes.count)
            #expect(report.servers.count <= whole.servers.count)
        }
    }

    @Test(arguments: 0..<300)
    func `any bytes give a report or an error`(_ seed: Int) {
        var generator = SeededGenerator(seed: UInt64(seed))
        var body = Self.whole().body
        for _ in 0..<Int.random(in: 1...40, using: &generator) {
            let index = Int.random(in: 0..<body.count, using: &generator)
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: body[index] = UInt8.random(in: 0...255, using: &generator)
            case 1: body.remove(at: index)
            case 2: body.insert(UInt8.random(in: 0...255, using: &generator), at: index)
            default: body.insert(contentsOf: Array("99999999999999999999999".utf8), at: index)
            }
        }
        _ = try? ReplyParser.parse(body, nonce: "n0nce")
        let noise = (0..<500).map { _ in UInt8.random(in: 0...255, using: &generator) }
        #expect(throws: ReplyError.unmarked) { _ = try ReplyParser.parse(noise, nonce: "n0nce") }
    }

    @Test(arguments: [
        ("", "", ReplyError.unmarked), ("hello\n", "n", .unmarked), ("@n hostsd 2 probe\n", "m", .unmarked),
        ("noise\n@n hostsd 2 probe\n@n done\n", "n", .unmarked),
        ("@n hostsd 1 probe\n@n done\n", "n", .otherVersion(1)),
        ("@n hostsd 2 probe\n@n unsupported\n@n done\n", "n", .unsupportedHost),
        ("@n hostsd 2 probe\n@n done\n", "n", .malformed(section: "boot")),
        ("@n hostsd 2 look\n@n done\n@n server /x\n", "n", .malformed(section: "done")),
        (
            "@n hostsd 2 probe\n@n boot b\n@n user 1\n@n processes 7 0\n@n processed\n@n done\n", "n",
            .malformed(section: "processes")
        ),
    ])
    func `what is no reply is refused by name`(_ text: String, _ nonce: String, _ error: ReplyError) {
        #expect(throws: error) { _ = try ReplyParser.parse(Array(text.utf8), nonce: nonce) }
    }

    @Test func `a failed function is no observation`() {
        let (body, nonce) = Self.whole()
        #expect(throws: ReplyError.failed(status: 2)) {
            _ = try ReplyParser.parse(ProbeReply(nonce: nonce, body: body, status: 2))
        }
    }

    @Test func `a screen without its end mark is not drawn`() throws {
        let (body, nonce) = Self.whole()
        let text = String(decoding: body, as: UTF8.self).replacing("@n0nce drawn %1\n", with: "")
        let report = try ReplyParser.parse(Array(text.utf8), nonce: nonce)
        #expect(report.servers.first?.captures["%1"] == nil)
    }

    @Test func `a process cannot pass for another one`() throws {
        var host = FakeHost()
        host.addPane(1, title: "", screen: [], command: ["vim"], name: "x)\n/proc/9/stat:9 (")
        let (body, nonce) = (host.body(ProbeRequest(function: "hostsd_probe")), host.nonce)
        let report = try ReplyParser.parse(body, nonce: nonce)
        #expect(report.processes.filter { $0.pid == 9 }.map(\.name) == ["sh"])
    }

    @Test(arguments: [")(", ") (", "9 ) S 1 (", "()", "(", ")"])
    func `a name with its parentheses the wrong way round is no process`(_ name: String) throws {
        let text = "@n hostsd 2 probe\n@n boot b\n@n user 1\n@n processes 7 1\n/proc/7/stat:7 \(name)\n"
        #expect(throws: ReplyError.malformed(section: "processes")) {
            _ = try ReplyParser.parse(Array((text + "@n processed\n@n done\n").utf8), nonce: "n")
        }
    }

    @Test func `bytes that are not UTF-8 are replaced`() throws {
        var host = FakeHost()
        host.addPane(1, title: "t", screen: [0xff, 0xfe, 0x0a, 0xe2, 0x94], command: ["claude"])
        let request = ProbeRequest(
            function: "hostsd_probe", arguments: ["capture:%1:0:/tmp/tmux-1000/default"])
        let report = try ReplyParser.parse(host.body(request), nonce: host.nonce)
        guard case .screen(let bytes) = report.servers.first?.captures["%1"] else {
            Issue.record("no screen")
            return
        }
        let reading = ScreenClassifier(try RuleFixtures.rules("claude")).read(
            Screen(capture: bytes, title: "t"))
        #expect(reading.meaning == nil)
        #expect(reading.failedRules == [])
    }

    @Test func `a tall pane keeps its last rows`() throws {
        var host = FakeHost()
        let rows = (0..<500).map { "row \($0)" }.joined(separator: "\n")
        host.addPane(1, title: "t", screen: Array(rows.utf8), command: ["claude"])
        let request = ProbeRequest(
            function: "hostsd_probe", arguments: ["capture:%1:0:/tmp/tmux-1000/default"])
        let report = try ReplyParser.parse(host.body(request), nonce: host.nonce)
        guard case .screen(let bytes) = report.servers.first?.captures["%1"] else {
            Issue.record("no screen")
            return
        }
        #expect(bytes.starts(with: Array("row 300\n".utf8)))
        #expect(bytes.reversed().starts(with: Array("row 499".utf8).reversed()))
    }

    @Test func `a row too many in the list of processes is no observation`() throws {
        let (body, nonce) = Self.whole()
        let text = String(decoding: body, as: UTF8.self)
        for noise in ["tick\n", "\n", "/proc/77/stat:77 (claude) S 1 77 77 34817 77\n"] {
            let noisy = text.replacing("@n0nce commands\n", with: noise + "@n0nce commands\n")
            #expect(throws: ReplyError.disturbed(section: "processes")) {
                _ = try ReplyParser.parse(Array(noisy.utf8), nonce: nonce)
            }
        }
    }

    @Test func `a screen with more rows than its pane is not drawn`() throws {
        let (body, nonce) = Self.whole()
        let noise = String(repeating: "tick\n", count: 41)
        let text = String(decoding: body, as: UTF8.self).replacing(
            "@n0nce drawn %1\n", with: noise + "@n0nce drawn %1\n")
        let report = try ReplyParser.parse(Array(text.utf8), nonce: nonce)
        #expect(report.servers.first?.captures["%1"] == nil)
        #expect(report.servers.first?.answer == .served)
    }

    /// Noise of another program between any two lines: the reply is as it was, or no observation, or some of it is
    /// missing; nothing is invented.
    @Test func `noise anywhere invents nothing`() throws {
        let (body, nonce) = Self.whole()
        let whole = try ReplyParser.parse(body, nonce: nonce)
        let lines = String(decoding: body, as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false)
        for noise in ["tick", "", "claude 1 2 3", "%9 1 /dev/pts/9 0 0 0 1 80 24 x:0.0 t"] {
            for index in lines.indices {
                var noisy = lines
                noisy.insert(Substring(noise), at: index)
                do throws(ReplyError) {
                    let report = try ReplyParser.parse(
                        Array(noisy.joined(separator: "\n").utf8), nonce: nonce)
                    #expect(report.processes == whole.processes, "line \(index)")
                    #expect(Set(report.stateFiles).isSubset(of: whole.stateFiles), "line \(index)")
                    #expect(report.bootID == whole.bootID)
                } catch {
                    continue  // no observation
                }
            }
        }
    }

    /// The corpus of `make fuzz`, and thousands of replies made of it: an observation or an error, and the detector goes
    /// on as if nothing had been.
    @Test func `replies that were tampered with do no harm`() throws {
        let folder = RuleFixtures.root.appending(path: "Tests/Fuzz/corpus")
        let seeds = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map {
            Array(try Data(contentsOf: folder.appending(path: $0)).dropFirst())
        }
        #expect(seeds.count == 3)
        var generator = SeededGenerator(seed: 2026)
        var host = FakeHost()
        host.addPane(1, title: "t", screen: Array("❯".utf8), command: ["claude"])
        var detector = HostDetector(host: HostDetectorTests.host, rules: RuleFixtures.book)
        let before = try detector.look(at: host, seconds: 0).sessions
        for round in 0..<3_000 {
            var bytes = seeds[round % seeds.count]
            for _ in 0..<Int.random(in: 1...6, using: &generator) { Self.tamper(&bytes, &generator) }
            var copy = detector
            _ = copy.nextRequest()
            let reply = ProbeReply(nonce: "n0nce", body: bytes, status: 0)
            _ = try? copy.report(reply, at: WallTime(milliseconds: 1_001_000))
        }
        #expect(try detector.look(at: host, seconds: 5).sessions.map(\.id) == before.map(\.id))
    }

    private static func tamper(_ bytes: inout [UInt8], _ generator: inout SeededGenerator) {
        guard bytes.count > 8 else { return }
        let place = Int.random(in: 0..<bytes.count, using: &generator)
        let end = min(bytes.count, place + Int.random(in: 1...200, using: &generator))
        switch Int.random(in: 0..<5, using: &generator) {
        case 0: bytes[place] = UInt8.random(in: 0...255, using: &generator)
        case 1: bytes.removeSubrange(place..<end)
        case 2: bytes.insert(contentsOf: bytes[place..<end], at: place)
        case 3: bytes.insert(contentsOf: Array("\n@n0nce ".utf8), at: place)
        default: bytes.replaceSubrange(place..<place, with: Array("99999999999999999999 -1 %".utf8))
        }
    }
}
