import FoundationEssentials
import HostsModel

extension WallTime {
    /// From 1970 to the end of 9999, in milliseconds: earlier is before us, later RFC 3339 cannot say.
    private static let expressible: ClosedRange<Int64> = 0...253_402_300_799_999

    /// RFC 3339 in UTC with milliseconds; a time out of range becomes the nearest one within.
    var rfc3339: String {
        let bounded = min(max(milliseconds, Self.expressible.lowerBound), Self.expressible.upperBound)
        // The seconds alone, as a whole number: a fraction in a floating-point date comes out a millisecond short.
        let (seconds, fraction) = bounded.quotientAndRemainder(dividingBy: 1000)
        let text = Date(timeIntervalSince1970: Double(seconds)).formatted(.iso8601)
        let digits = String(fraction)
        return text.dropLast() + "." + String(repeating: "0", count: 3 - digits.count) + digits + "Z"
    }
}
