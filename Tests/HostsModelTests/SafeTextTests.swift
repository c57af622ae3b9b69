import HostsModel
import Testing

@Suite struct SafeTextTests {
    @Test func `control characters of others become visible`() {
        #expect(SafeText.visible("a\u{1b}[31mb") == "a\\u{1b}[31mb")
        #expect(SafeText.visible("line\r\nnext\tend\n") == "line next end")
        #expect(SafeText.visible("\u{202e}gnp.exe\u{2028}") == "\\u{202e}gnp.exe\\u{2028}")
    }

    @Test func `a long text is cut and says so`() {
        #expect(SafeText.visible(String(repeating: "x", count: 300), limit: 5) == "xxxxx…")
        #expect(SafeText.visible("12345", limit: 5) == "12345")
    }

    @Test func `bytes that are not UTF-8 are replaced`() {
        #expect(SafeText.visible(bytes: [0x61, 0xff, 0x62]) == "a\u{fffd}b")
    }
}
