import HostsModel
import HostsTestSupport
import Testing

@testable import HostsSSH

struct ShellReplyParserTests {
    private let nonce = "00112233445566778899aabbccddeeff"

    private func reply(_ body: String, status: Int = 0, noise: String = "") -> [UInt8] {
        Array("\(noise)\n@@hostsd-begin \(nonce)\n\(body)\n@@hostsd-end \(nonce) \(status)\n".utf8)
    }

    private func complete(_ body: String, status: Int32 = 0) -> ShellReplyParser.Outcome {
        .complete(ProbeReply(nonce: nonce, body: Array(body.utf8), status: status))
    }

    static let bodies = [
        "", "x", "two\nlines\n", "\n", "\n\n", "@@hostsd-end", "@@hostsd-end 00\n", "no @@hostsd-end mark",
        "\n@@hostsd-end 00112233445566778899aabbccddeefe 0\n", "\u{0}binary\u{1b}[0m\n@@hostsd-begin x",
        "\n@@hostsd-end 00112233445566778899aabbccddeeff",
    ]

    @Test(arguments: bodies.dropLast())
    func `every cut into two chunks gives the same reply`(body: String) {
        let bytes = reply(body, status: 3, noise: "Last login\n@@hostsd-begin other\n$ ")
        for cut in 0...bytes.count {
            var parser = ShellReplyParser(nonce: nonce)
            let first = parser.consume(bytes[..<cut])
            #expect(cut == bytes.count ? first == complete(body, status: 3) : first == .incomplete)
            #expect(parser.consume(bytes[cut...]) == complete(body, status: 3))
        }
    }

    @Test(arguments: 0..<200)
    func `any chunks give the same reply`(seed: Int) {
        var generator = SeededGenerator(seed: UInt64(seed))
        let body = Self.bodies.dropLast()[seed % (Self.bodies.count - 1)]
        let bytes = reply(body, noise: "noise") + Array("what follows".utf8)
        var parser = ShellReplyParser(nonce: nonce)
        var rest = bytes[...]
        var outcome = ShellReplyParser.Outcome.incomplete
        while !rest.isEmpty {
            let size = Int.random(in: 1...min(rest.count, 9), using: &generator)
            outcome = parser.consume(rest.prefix(size))
            rest = rest.dropFirst(size)
        }
        #expect(outcome == complete(body))
    }

    @Test func `every prefix is incomplete`() {
        let bytes = reply("a body\nof two lines\n", noise: "noise\n")
        for count in 0..<bytes.count {
            var parser = ShellReplyParser(nonce: nonce)
            #expect(parser.consume(bytes.prefix(count)) == .incomplete)
        }
    }

    @Test(arguments: ["-1", "256", "x", "", "0000", " 1"])
    func `a status that is none is refused`(status: String) {
        var parser = ShellReplyParser(nonce: nonce)
        let text = "\n@@hostsd-begin \(nonce)\nbody\n@@hostsd-end \(nonce) \(status)\n"
        #expect(parser.consume(Array(text.utf8)) == .failed(.badEndMarker))
    }

    @Test func `a marker in the middle of a line is noise or body`() {
        var parser = ShellReplyParser(nonce: nonce)
        #expect(parser.consume(Array("> @@hostsd-begin \(nonce)\n".utf8)) == .incomplete)
        #expect(parser.consume(reply("x @@hostsd-end \(nonce) 0")) == complete("x @@hostsd-end \(nonce) 0"))
    }

    @Test(arguments: [1, 100, 4096])
    func `noise is bounded`(chunk: Int) {
        var parser = ShellReplyParser(nonce: nonce)
        var count = 0
        var outcome = ShellReplyParser.Outcome.incomplete
        while outcome == .incomplete, count < 1 << 20 {
            outcome = parser.consume([UInt8](repeating: 0x61, count: chunk))
            count += chunk
        }
        #expect(outcome == .failed(.tooMuchNoise))
        #expect(count <= ShellReplyParser.noiseLimit.bytes + 4096)
        #expect(parser.noise.hasPrefix("aaaa"))
    }

    @Test func `the longest body is accepted and one byte more is not`() {
        for extra in [0, 1] {
            let body = String(repeating: "b", count: ProbeReply.bodyLimit.bytes + extra)
            var parser = ShellReplyParser(nonce: nonce)
            let outcome = parser.consume(reply(body))
            #expect(outcome == (extra == 0 ? complete(body) : .failed(.bodyTooLong)))
        }
        var parser = ShellReplyParser(nonce: nonce)
        var outcome = parser.consume(Array("\n@@hostsd-begin \(nonce)\n".utf8))
        for _ in 0..<1000 where outcome == .incomplete {
            outcome = parser.consume([UInt8](repeating: 0x0a, count: 1000))
        }
        #expect(outcome == .failed(.bodyTooLong))
    }
}
