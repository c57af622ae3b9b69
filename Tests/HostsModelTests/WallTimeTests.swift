import FoundationEssentials
import HostsModel
import Testing

@Suite struct WallTimeTests {
    @Test(
        arguments: [
            (1_796_068_800_123, "2026-11-30T20:00:00.123Z"), (0, "1970-01-01T00:00:00.000Z"),
            (-1, "1970-01-01T00:00:00.000Z"), (1_709_164_800_007, "2024-02-29T00:00:00.007Z"),
            (1_709_251_199_999, "2024-02-29T23:59:59.999Z"), (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
            (Int64.max, "9999-12-31T23:59:59.999Z"), (Int64.min, "1970-01-01T00:00:00.000Z"),
        ] as [(Int64, String)])
    func `a time is told in UTC with milliseconds, bounded`(milliseconds: Int64, text: String) {
        #expect(WallTime(milliseconds: milliseconds).rfc3339 == text)
    }

    @Test func `every day until 2400 is the one of the calendar`() {
        for day in stride(from: Int64(0), to: 157_000, by: 1) {
            let date = Date(timeIntervalSince1970: Double(day * 86_400)).formatted(.iso8601)
            #expect(WallTime(milliseconds: day * 86_400_000).rfc3339.prefix(10) == date.prefix(10))
        }
    }
}
