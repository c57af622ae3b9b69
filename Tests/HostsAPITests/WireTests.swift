import FoundationEssentials
import HostsAPI
import HostsModel
import Testing

@Suite struct WireTests {
    @Test func `an absent fact is null, and an older peer may leave it out`() throws {
        let document = ErrorDocument(code: "x", message: "y", help: nil)
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let text = String(decoding: try encoder.encode(document), as: UTF8.self)
        #expect(text == #"{"error":{"code":"x","help":null,"message":"y"},"schema":1}"#)
        let old = Data(#"{"error":{"code":"x","message":"y"},"schema":1,"later":true}"#.utf8)
        #expect(try JSONDecoder().decode(ErrorDocument.self, from: old) == document)
    }

    @Test(arguments: [0, 1, 999, 1_764_532_800_123, 1_796_068_800_000] as [Int64])
    func `a time keeps its milliseconds`(milliseconds: Int64) {
        let time = APITime(WallTime(milliseconds: milliseconds))
        #expect(APITime(text: time.text) == time)
        #expect(time.text.hasSuffix("Z"))
    }

    @Test func `a time is RFC 3339 in UTC`() {
        #expect(APITime(WallTime(milliseconds: 1_796_068_800_123)).text == "2026-11-30T20:00:00.123Z")
        #expect(APITime(text: "yesterday") == nil)
    }
}
