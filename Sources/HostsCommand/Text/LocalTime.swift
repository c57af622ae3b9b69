package import HostsModel

/// Civil time where the person is.
package struct LocalTime: Sendable {
    /// Seconds that local time is ahead of UTC at a point in time.
    private let offset: @Sendable (WallTime) -> Int

    /// Makes it from the rules of a time zone.
    ///
    /// - Parameter offset: Seconds that local time is ahead of UTC at a point in time.
    package init(offset: @escaping @Sendable (WallTime) -> Int) {
        self.offset = offset
    }

    /// UTC.
    package static let utc = LocalTime { _ in 0 }

    /// `2026-11-30 20:00:00`.
    func dateAndTime(_ time: WallTime) -> String {
        let (day, milliseconds) = split(time)
        return Self.date(day) + " " + Self.clock(milliseconds)
    }

    /// `2026-11-30`.
    func date(_ time: WallTime) -> String { Self.date(split(time).day) }

    /// `20:00:00.123`.
    func preciseClock(_ time: WallTime) -> String {
        let milliseconds = split(time).milliseconds
        return Self.clock(milliseconds) + "." + Self.padded(milliseconds % 1000, 3)
    }

    private func split(_ time: WallTime) -> (day: Int, milliseconds: Int) {
        let local = Int(time.milliseconds) + offset(time) * 1000
        let day = (Double(local) / 86_400_000).rounded(.down)
        return (Int(day), local - Int(day) * 86_400_000)
    }

    private static func clock(_ milliseconds: Int) -> String {
        let seconds = milliseconds / 1000
        return [seconds / 3600, seconds / 60 % 60, seconds % 60].map { padded($0, 2) }.joined(separator: ":")
    }

    /// The proleptic Gregorian date of a day counted from 1970-01-01, by eras of 400 years that begin on 1 March.
    private static func date(_ day: Int) -> String {
        let shifted = day + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return
            "\(padded(year, 4))-\(padded(month, 2))-\(padded(dayOfYear - (153 * shiftedMonth + 2) / 5 + 1, 2))"
    }

    private static func padded(_ number: Int, _ digits: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }
}
