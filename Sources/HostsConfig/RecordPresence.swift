/// Holds on to files that have just vanished: sync tools and editors delete a file and write it again.
///
/// A host whose record is gone for a moment must not be dropped, and one whose override is gone for a moment must
/// not be enabled. So a file counts as removed only when it stayed away for `grace`, or longer where the folder
/// itself could not be listed. Pure: the time is given.
package struct RecordPresence: Sendable {
    /// How long a file must be gone.
    package static let grace = Duration.seconds(2)

    /// What to work with, and when to look again although nothing changes.
    package struct Decision: Hashable, Sendable {
        package let snapshot: ConfigurationSnapshot
        /// The earliest moment at which a missing file will count as removed, or nil if none is missing.
        package let lookAgainAt: ContinuousClock.Instant?
    }

    private struct Missing: Sendable {
        let file: ConfigurationFile
        let since: ContinuousClock.Instant
    }

    private var settings: ConfigurationFile?
    private var settingsMissingSince: ContinuousClock.Instant?
    private var present: [String: ConfigurationFile] = [:]
    private var missing: [String: Missing] = [:]

    package init() {}

    /// Takes what stands in the folders now, and answers with what is to be believed.
    ///
    /// - Parameters:
    ///   - found: The folders as they are.
    ///   - now: The present instant; never earlier than in the call before.
    /// - Returns: `found`, with the files that have just vanished put back.
    package mutating func observe(
        _ found: ConfigurationSnapshot, now: ContinuousClock.Instant
    ) -> Decision {
        let foundNow = Dictionary(found.hosts.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        for (name, file) in present where foundNow[name] == nil {
            missing[name] = Missing(file: file, since: now)
        }
        for name in foundNow.keys { missing[name] = nil }
        present = foundNow
        var believed = found
        var deadlines: [ContinuousClock.Instant] = []
        holdHosts(&believed, deadlines: &deadlines, now: now)
        holdSettings(&believed, deadlines: &deadlines, now: now)
        return Decision(snapshot: believed, lookAgainAt: deadlines.min())
    }

    /// Believes at once that files of hosts are gone: the daemon itself has put them aside.
    ///
    /// - Parameter names: Without their folder. One that is found again is there again.
    package mutating func dismiss(_ names: [String]) {
        for name in names {
            present[name] = nil
            missing[name] = nil
        }
    }

    private mutating func holdHosts(
        _ snapshot: inout ConfigurationSnapshot, deadlines: inout [ContinuousClock.Instant],
        now: ContinuousClock.Instant
    ) {
        for (name, gone) in missing {
            let deadline = gone.since.advanced(by: Self.grace)
            if snapshot.isComplete, deadline <= now {
                missing[name] = nil
            } else {
                snapshot.hosts.append(gone.file)
                if snapshot.isComplete { deadlines.append(deadline) }
            }
        }
        snapshot.hosts.sort { $0.name < $1.name }
    }

    private mutating func holdSettings(
        _ snapshot: inout ConfigurationSnapshot, deadlines: inout [ContinuousClock.Instant],
        now: ContinuousClock.Instant
    ) {
        if let found = snapshot.settings {
            settings = found
            settingsMissingSince = nil
            return
        }
        guard let held = settings else { return }
        let since = settingsMissingSince ?? now
        settingsMissingSince = since
        let deadline = since.advanced(by: Self.grace)
        if snapshot.isComplete, deadline <= now {
            settings = nil
            settingsMissingSince = nil
        } else {
            snapshot.settings = held
            if snapshot.isComplete { deadlines.append(deadline) }
        }
    }
}
