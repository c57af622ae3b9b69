import HostsConfig
import HostsModel
import Testing

@Suite struct TOMLDocumentTests {
    @Test func `every key and value knows where it stands`() throws {
        let text = """
            # a comment
            ssh = "dévbox"  # é is one column
            tags = ["ml", 3]

            [notify]
            quiet = true
            """
        let document = try TOMLDocument(parsing: Array(text.utf8), file: "a.toml")
        let root = document.root
        #expect(root.members.map(\.key) == ["ssh", "tags", "notify"])
        let ssh = try #require(root["ssh"])
        #expect(ssh.keyLocation.description == "a.toml:2:1")
        #expect(ssh.value.location.description == "a.toml:2:7")
        #expect(ssh.value.content == .string("dévbox"))
        guard case .array(let tags) = root["tags"]?.value.content else {
            Issue.record("tags is no array")
            return
        }
        #expect(tags.map(\.content) == [.string("ml"), .integer(3)])
        #expect(tags.map(\.location.description) == ["a.toml:3:9", "a.toml:3:15"])
        guard case .table(let notify) = root["notify"]?.value.content else {
            Issue.record("notify is no table")
            return
        }
        #expect(notify["quiet"]?.keyLocation.description == "a.toml:6:1")
    }

    struct Broken: Sendable, CustomTestStringConvertible {
        let text: String
        let diagnostic: String
        var testDescription: String { text.debugDescription }
    }

    @Test(arguments: [
        Broken(
            text: "enabled = yes\n",
            diagnostic: "a.toml:1:11: error: yes is not a value here: write true or false"),
        Broken(
            text: "enabled = True",
            diagnostic: "a.toml:1:11: error: True is not a value here: write true or false"),
        Broken(
            text: "x = 1\nenabled = no # never",
            diagnostic: "a.toml:2:11: error: no is not a value here: write true or false"),
        Broken(
            text: "ssh = dev@host\n",
            diagnostic: #"a.toml:1:7: error: dev@host is not a value: text stands in quotes, "dev@host""#),
        Broken(
            text: "x = 5s", diagnostic: #"a.toml:1:5: error: 5s is not a value: text stands in quotes, "5s""#),
        Broken(
            text: "ssh = \"dev",
            diagnostic: "a.toml:1:11: error: the text is not closed: the quote at its end is missing"),
        Broken(
            text: "ssh = \"dév\r\nenabled = true\n",
            diagnostic: "a.toml:1:11: error: the text is not closed: the quote at its end is missing"),
        Broken(
            text: "ssh = 'dev\n",
            diagnostic: "a.toml:1:11: error: the text is not closed: the quote at its end is missing"),
        Broken(
            text: "ssh = \"a\u{1}b\"\n",
            diagnostic: "a.toml:1:9: error: syntax error in string: unescaped control characters other than "
                + "TAB (U+0009) are explicitly prohibited"),
        Broken(
            text: "a = 1\na = 2\n",
            diagnostic:
                "a.toml:2:5: error: syntax error in key-value pair: cannot redefine existing integer 'a'"),
        Broken(
            text: "ssh: dev\n",
            diagnostic: "a.toml:1:4: error: syntax error in key-value pair: expected '=', saw ':'"),
    ])
    func `a syntax error says where and what`(_ c: Broken) {
        #expect(throws: Diagnostic.self) { try TOMLDocument(parsing: Array(c.text.utf8), file: "a.toml") }
        #expect(diagnostic(of: Array(c.text.utf8)) == c.diagnostic)
    }

    @Test func `BOM and CRLF are accepted, other encodings are not`() throws {
        let document = try TOMLDocument(
            parsing: [0xef, 0xbb, 0xbf] + Array("a = 1\r\nb = 2\r\n".utf8), file: "a.toml")
        #expect(document.root.members.map(\.value.location.description) == ["a.toml:1:5", "a.toml:2:5"])
        let invalid = diagnostic(of: [0x61, 0x3d, 0x22, 0xff, 0x22])
        #expect(invalid == "a.toml:1:3: error: the file is not valid UTF-8")
    }

    @Test func `a file beyond a limit is refused, and never overflows the stack`() {
        let large = Array(repeating: UInt8(ascii: "#"), count: TOMLDocument.sizeLimit.bytes + 1)
        #expect(
            diagnostic(of: large) == "a.toml: error: the file is too large: at most 256 KiB are read")
        let dotted = "\n" + Array(repeating: "a", count: 60_000).joined(separator: ".") + " = 1"
        #expect(diagnostic(of: Array(dotted.utf8)) == "a.toml:2:1: error: more than 100 dots in one line")
        let keys = Array(repeating: "a", count: 100).joined(separator: ".")
        let opened = "x = " + String(repeating: "[\n{\(keys) = ", count: 120)
        let deep = opened + "1" + String(repeating: "}]", count: 120)
        #expect(diagnostic(of: Array(deep.utf8))?.contains("nested too deeply") == true)
        let brackets = "x = " + String(repeating: "[", count: 200_000)
        #expect(diagnostic(of: Array(brackets.utf8))?.contains("exceeded maximum nested value depth") == true)
    }

    private func diagnostic(of bytes: [UInt8]) -> String? {
        do {
            _ = try TOMLDocument(parsing: bytes, file: "a.toml")
            return nil
        } catch {
            return error.description
        }
    }
}
