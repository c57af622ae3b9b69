import Glibc
import HostsModel
import HostsTestSupport
import Testing

/// What one row has seen; its verdict goes to the table file.
final class FaultReport: Sendable {
    /// What a busy machine gets beyond a bound of a second; the table shows what was seen.
    static let slack: Duration = .seconds(1)

    private struct State: Sendable {
        var seen: [String] = []
        var failures: [String] = []
        var known: String?
    }

    private let state = Locked(State())

    /// Notes a figure.
    func saw(_ text: String) {
        state.withLock { $0.seen.append(text) }
    }

    /// Notes how long something took.
    func saw(_ text: String, _ duration: Duration) {
        saw("\(text) \(duration.short)")
    }

    /// Fails the row unless something holds.
    func require(_ isTrue: Bool, _ what: String) {
        guard !isTrue else { return }
        state.withLock { $0.failures.append(what) }
    }

    /// Says that the row cannot hold yet, and why.
    func known(_ reason: String) {
        state.withLock { $0.known = reason }
    }

    /// Runs one row and writes its line; a row that fails fails its test.
    static func row(_ number: Int, _ body: (FaultReport) async throws -> Void) async {
        guard let row = FaultRow.all.first(where: { $0.number == number }) else {
            preconditionFailure("row \(number) is not in the list")
        }
        let report = FaultReport()
        do { try await body(report) } catch {
            report.require(false, "\(error)")
        }
        let state = report.state.withLock { $0 }
        let verdict =
            if let known = state.known {
                "known: \(known)"
            } else if state.failures.isEmpty {
                "ok"
            } else {
                "FAILED: " + state.failures.joined(separator: "; ")
            }
        FaultTable.write(row, seen: state.seen.joined(separator: ", "), verdict: verdict)
        if state.known == nil {
            for failure in state.failures { Issue.record("row \(number): \(failure)") }
        }
    }
}

/// The file that `make faults` prints: number, name, bound, what was seen and the verdict, with tabs between.
enum FaultTable {
    private static var path: String {
        guard let value = getenv("HOSTS_FAULTS_TABLE") else { return ".build/faults.tsv" }
        return String(cString: value)
    }

    /// Whoever makes the file writes a line for every row, so that a row that never ran shows.
    private static let file: Int32 = {
        let made = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0o644)
        guard made >= 0 else { return open(path, O_WRONLY | O_APPEND | O_CLOEXEC) }
        for row in FaultRow.all { append(row, seen: "", verdict: "MISSING", to: made) }
        return made
    }()

    /// Adds a line; the last one of a row counts.
    static func write(_ row: FaultRow, seen: String, verdict: String) {
        append(row, seen: seen, verdict: verdict, to: file)
    }

    private static func append(_ row: FaultRow, seen: String, verdict: String, to file: Int32) {
        let fields = [String(row.number), row.name, row.bound, seen, verdict].map {
            SafeText.visible($0, limit: 600)
        }
        let line = Array((fields.joined(separator: "\t") + "\n").utf8)
        // One call: lines of several processes do not mix.
        guard Glibc.write(file, line, line.count) == line.count else {
            Issue.record("the table \(path) cannot be written: errno \(errno)")
            return
        }
    }
}

extension Duration {
    /// As in `1.23 s`.
    var short: String {
        let hundredths = Int((seconds * 100).rounded())
        let fraction = hundredths % 100
        return "\(hundredths / 100).\(fraction < 10 ? "0" : "")\(fraction) s"
    }
}
