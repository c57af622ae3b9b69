extension WallTime {
    /// From 1970 to the end of 9999, in milliseconds: earlier is before us, later RFC 3339 cannot say.
    private static let expressible: ClosedRange<Int64> = 0...253_402_300_799_999

    /// RFC 3339 in UTC with milliseconds, such as `2026-11-30T20:00:00.123Z`.
    ///
    /// A time that cannot be said becomes the nearest one that can. Whole numbers only: a fraction in a
    /// floating-point date comes out a millisecond short.
    package var rfc3339: String {
        let bounded = min(max(milliseconds, Self.expressible.lowerBound), Self.expressible.upperBound)
        let (day, rest) = bounded.quotientAndRemainder(dividingBy: 86_400_000)
        let date = Self.date(ofDay: day)
        let parts: [(number: Int64, width: Int, end: String)] = [
            (date.year, 4, "-"), (date.month, 2, "-"), (date.day, 2, "T"), (rest / 3_600_000, 2, ":"),
            (rest / 60_000 % 60, 2, ":"), (rest / 1000 % 60, 2, "."), (rest % 1000, 3, "Z"),
        ]
        return parts.reduce(into: "") { text, part in
            let digits = String(part.number)
            text += String(repeating: "0", count: part.width - digits.count) + digits + part.end
        }
    }

    /// The Gregorian date of a day, counted from 1970-01-01 (Howard Hinnant, "chrono-compatible low-level date
    /// algorithms", civil_from_days): eras of 400 years that begin on the first of March.
    private static func date(ofDay day: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (era, dayOfEra) = (day + 719_468).quotientAndRemainder(dividingBy: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        let year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
    }
}
