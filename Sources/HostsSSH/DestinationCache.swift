import Glibc
package import HostsModel

/// What ssh said about destinations, for as long as nothing that it reads has changed.
package final class DestinationCache: Sendable {
    /// A destination, and everything else that the answer of ssh depends on.
    struct Key: Hashable, Sendable {
        let query: DestinationResolver.Query
        let program: String
        let configFile: String?
        let environment: [String: String]
        let homeDirectory: String
        let agentSocket: String?

        init(_ query: DestinationResolver.Query, _ settings: LinkSettings) {
            self.query = query
            program = settings.sshProgram
            configFile = settings.configFile
            environment = settings.environment
            homeDirectory = settings.homeDirectory
            agentSocket = settings.agentSocket
        }
    }

    /// What is known before ssh runs.
    enum Lookup: Hashable, Sendable {
        case known(Destination)
        /// ssh must be asked; what it may read, as it is now.
        case unknown(ConfigurationFiles)
    }

    /// Most destinations that are kept.
    static let capacity = 4_096
    /// What is older is asked again: names in `Host` and `Match` may depend on more than files.
    static let lifetime = Duration.seconds(600)

    private struct Entry: Sendable {
        let destination: Destination
        let files: ConfigurationFiles
        let made: ContinuousClock.Instant
    }

    private struct State: Sendable {
        var entries: [Key: Entry] = [:]
        /// The files as they were when somebody was told last; nil before the first destination.
        var told: ConfigurationFiles?
    }

    /// Says that other folders have to be watched than before.
    package let watchChanges: AsyncStream<Void>
    private let watchChanged: AsyncStream<Void>.Continuation
    private let clock: any MonotonicClock
    private let home: String
    private let state = Locked(State())

    /// Makes an empty cache.
    ///
    /// - Parameters:
    ///   - clock: Measures how old an answer is.
    ///   - home: The home directory in which ssh looks for `.ssh/config`; nil: that of the account.
    package init(clock: any MonotonicClock = SystemClock(), home: String? = nil) {
        self.clock = clock
        self.home = home ?? Self.accountHome
        (watchChanges, watchChanged) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Forgets every destination.
    package func invalidate() {
        state.withLock { $0.entries = [:] }
    }

    /// How many destinations are kept.
    var count: Int { state.withLock { $0.entries.count } }

    /// Looks a destination up, and otherwise takes stock of the files; blocks.
    func lookUp(_ key: Key) -> Lookup {
        let now = clock.now
        let entry = state.withLock { $0.entries[key] }
        if let entry, now < entry.made.advanced(by: Self.lifetime), entry.files.isCurrent {
            return .known(entry.destination)
        }
        let files = ConfigurationFiles(.init(configFile: key.configFile, home: home))
        let isNew = state.withLock { state in
            if entry != nil, state.entries[key]?.made == entry?.made { state.entries[key] = nil }
            guard state.told?.roots != files.roots else { return false }
            state.told = files
            return true
        }
        if isNew { watchChanged.yield() }
        return .unknown(files)
    }

    /// Keeps what ssh has said.
    ///
    /// - Parameters:
    ///   - destination: Made of it.
    ///   - key: What it was asked.
    ///   - files: As they were before it was asked.
    func store(_ destination: Destination, for key: Key, files: ConfigurationFiles) {
        let entry = Entry(destination: destination, files: files, made: clock.now)
        state.withLock { state in
            if state.entries.count >= Self.capacity, state.entries[key] == nil,
                let oldest = state.entries.min(by: { $0.value.made < $1.value.made })?.key
            {
                state.entries[oldest] = nil
            }
            state.entries[key] = entry
        }
    }

    // MARK: Watching

    /// The files and folders that ssh's answers depend on, present or not.
    package var watchedPaths: Set<String> {
        state.withLock { Set($0.told.map { Array($0.stamps.keys) } ?? []) }
    }

    /// The folders in which a change may be one of `watchedPaths`.
    package var watchedFolders: Set<String> {
        guard let files = state.withLock({ $0.told }) else { return [] }
        var folders = files.folders
        for path in files.stamps.keys where !files.folders.contains(path) {
            let parent = path.split(separator: "/").dropLast().joined(separator: "/")
            folders.insert("/" + parent)
        }
        return folders
    }

    /// Whether one of the watched files is another one than when this was asked last; blocks.
    func takeChange() -> Bool {
        guard let told = state.withLock({ $0.told }), !told.isCurrent else { return false }
        let files = ConfigurationFiles(told.roots)
        let isOurs = state.withLock { state in
            // The settings may name other files meanwhile; those are new to whoever asks.
            guard state.told?.roots == files.roots else { return false }
            state.told = files
            return true
        }
        guard isOurs else { return false }
        if files.stamps.keys != told.stamps.keys || files.folders != told.folders { watchChanged.yield() }
        return !files.saysTheSame(as: told)
    }

    private static var accountHome: String {
        var entry = unsafe passwd()
        var buffer = [CChar](repeating: 0, count: 16 * 1024)
        var found: UnsafeMutablePointer<passwd>?
        guard unsafe getpwuid_r(getuid(), &entry, &buffer, buffer.count, &found) == 0, unsafe found != nil,
            let folder = unsafe entry.pw_dir
        else { return "/" }
        return unsafe String(cString: folder)
    }
}
