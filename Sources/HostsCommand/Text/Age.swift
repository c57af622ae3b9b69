import HostsModel

/// Lengths of time in the words of people: one unit, cut and not rounded, so that a limit is never said to be over
/// before it is.
enum Age {
    /// `3 s`, `2 min`, `5 h`, `4 d`; what is negative (a clock was set back) counts as nothing.
    static func length(_ duration: Duration) -> String {
        let seconds = max(0, duration.components.seconds)
        switch seconds {
        case ..<60: return "\(seconds) s"
        case ..<3600: return "\(seconds / 60) min"
        case ..<172_800: return "\(seconds / 3600) h"
        default: return "\(seconds / 86400) d"
        }
    }

    /// `now`, `3 s ago`.
    static func ago(_ duration: Duration) -> String {
        duration < .seconds(1) ? "now" : length(duration) + " ago"
    }

    /// A short length with its fraction, as in `0.21 s`.
    static func precise(seconds: Double) -> String {
        guard seconds.isFinite, seconds >= 0, seconds < 1_000_000 else { return "? s" }
        let hundredths = Int((seconds * 100).rounded())
        let fraction = hundredths % 100
        return "\(hundredths / 100).\(fraction < 10 ? "0" : "")\(fraction) s"
    }
}
