package import HostsAPI
package import HostsLog
package import HostsModel

/// Everything that the API can be asked, in the documents of the wire.
///
/// The daemon implements it. Every function must return soon after its task is cancelled, for the server waits for
/// it when it stops.
package protocol DaemonService: Sendable {
    /// The daemon and the fleet at one glance.
    func status() async throws(APIError) -> StatusDocument

    /// Every host, sorted by name.
    func hosts() async throws(APIError) -> HostList

    /// One host.
    ///
    /// - Parameter name: What the person typed; may be no valid name at all.
    /// - Returns: The host with its sessions and its record.
    /// - Throws: `.hostNotFound` with the nearest known name.
    func host(_ name: String) async throws(APIError) -> HostDocument

    /// Enables a host in its override file.
    func enable(_ name: String) async throws(APIError) -> ActionDocument

    /// Disables a host in its override file.
    func disable(_ name: String) async throws(APIError) -> ActionDocument

    /// Makes the record of a new host, and puts it in force.
    ///
    /// - Parameters:
    ///   - name: What the person typed; may be no valid name at all.
    ///   - values: The keys of the record.
    /// - Returns: The new host.
    /// - Throws: Why nothing was written.
    func add(_ name: String, _ values: [String: RecordValueBody]) async throws(APIError) -> ActionDocument

    /// Puts the files of a host aside, and drops it.
    ///
    /// - Throws: `.conflict` for the machine itself, which has no record.
    func remove(_ name: String) async throws(APIError) -> RemovalDocument

    /// Writes keys into the override of a host or takes them out, all or none, and puts them in force.
    ///
    /// - Parameters:
    ///   - name: The host.
    ///   - values: The keys; `.null` takes one out.
    /// - Returns: The host as it is then.
    /// - Throws: Why nothing was written.
    func set(_ name: String, _ values: [String: RecordValueBody]) async throws(APIError) -> ActionDocument

    /// Looks at a host now.
    ///
    /// - Throws: `.hostDisabled` for a host that the daemon must not dial.
    func probe(_ name: String) async throws(APIError) -> ActionDocument

    /// Dials a host now, whatever its schedule says.
    ///
    /// - Throws: `.hostDisabled` for a host that the daemon must not dial.
    func resume(_ name: String) async throws(APIError) -> ActionDocument

    /// Ends the attempts of a host that is not online, until it is resumed.
    ///
    /// - Throws: `.conflict` where there is nothing to cancel; `.hostDisabled`.
    func cancel(_ name: String) async throws(APIError) -> ActionDocument

    /// Asks a host for its key, a disabled one too, and adds it to known_hosts where the person accepts it.
    ///
    /// - Parameters:
    ///   - name: The host.
    ///   - fingerprint: Of the key that the person accepts; nil for the question.
    /// - Returns: The key; the host is dialled after it was accepted, unless it is disabled.
    /// - Throws: `.conflict` for a key that is not added; `.hostFailed` where the host shows none.
    func trust(_ name: String, fingerprint: String?) async throws(APIError) -> TrustDocument

    /// Opens the keys of a host that have a passphrase; every host that waits for one of them is dialled.
    ///
    /// - Parameters:
    ///   - name: The host.
    ///   - passphrase: Neither kept nor told to anybody but the links.
    /// - Returns: The keys that it has opened.
    /// - Throws: `.wrongPassphrase`, `.conflict` where no key is locked, `.hostDisabled`.
    func unlock(_ name: String, passphrase: SecretBytes) async throws(APIError) -> UnlockDocument

    /// Connects to a host for the question alone, a disabled one too.
    func check(_ name: String) async throws(APIError) -> CheckDocument

    /// The agent sessions of all hosts, or of one.
    func sessions(host: String?) async throws(APIError) -> SessionList

    /// One agent session.
    func session(_ id: SessionID) async throws(APIError) -> SessionDocument

    /// Why an agent session is thought to be in its state.
    ///
    /// - Parameter id: The session; one that has just gone is remembered for a while.
    /// - Returns: Its last looks.
    /// - Throws: `.sessionNotFound`.
    func explain(_ id: SessionID) async throws(APIError) -> ExplainDocument

    /// Opens a window of the person's on a host: what to start, and then the phases for as long as it is open.
    ///
    /// - Parameters:
    ///   - name: The host.
    ///   - session: An agent session of it, by id, pane or place; nil for a shell.
    /// - Returns: The plan first, then each phase; the window is closed when nobody reads them any more.
    /// - Throws: `.hostDisabled`, `.sessionNotFound`, `.conflict` for a session that cannot be attached to.
    func attach(_ name: String, session: String?) async throws(APIError) -> Watch<AttachLine>

    /// One host now and whenever it has changed; it is looked at every second meanwhile.
    ///
    /// - Throws: `.hostDisabled`: such a host is not looked at.
    func watchHost(_ name: String) async throws(APIError) -> Watch<HostDocument>

    /// One agent session now and whenever it has changed; its host is looked at every second meanwhile.
    ///
    /// - Throws: `.hostDisabled`: such a host is not looked at.
    func watchSession(_ id: SessionID) async throws(APIError) -> Watch<SessionDocument>

    /// Stored events, oldest first.
    func events(_ query: EventQuery) async throws(APIError) -> EventList

    /// Stored events and then every new one.
    func watchEvents(_ query: EventQuery) async throws(APIError) -> Watch<EventView>

    /// Log lines of the ring, oldest first.
    func logs(_ query: LogQuery) async throws(APIError) -> LogList

    /// Log lines of the ring and then every new one.
    func watchLogs(_ query: LogQuery) async throws(APIError) -> Watch<LogView>

    /// Reads the configuration again and waits until it is in force.
    func reload() async throws(APIError) -> ReloadDocument

    /// Opens a refresh window, unless there is nothing to deliver, and waits until it has closed.
    func refresh() async throws(APIError) -> RefreshDocument

    /// Plays a sleep or a wake of the machine, and waits until the hosts were told.
    func rehearse(isSleep: Bool) async throws(APIError) -> DebugDocument

    /// Turns `background_keep_alive` of a host on or off in its override file.
    ///
    /// - Parameter name: The host; nil for the first by name.
    /// - Returns: The host as it is then.
    /// - Throws: `.hostNotFound`; why the file could not be written.
    func toggleKeepAlive(_ name: String?) async throws(APIError) -> ActionDocument

    /// The notifier hooks.
    func hooks() async throws(APIError) -> HookList
}

/// A past and what follows it, without a gap and without a repetition in between.
package struct Watch<Element: Sendable>: Sendable {
    /// What comes after the place that was asked for, oldest first.
    package let past: [Element]

    /// What happens from now on.
    ///
    /// Bounded: it ends when its reader falls too far behind, or when the daemon stops. Nothing is waited for.
    package let live: any AsyncSequence<Element, Never> & Sendable

    /// Whether something between the place that was asked for and `past` is lost, or the place is not known.
    package let isIncomplete: Bool

    package init(
        past: [Element], live: any AsyncSequence<Element, Never> & Sendable, isIncomplete: Bool = false
    ) {
        self.past = past
        self.live = live
        self.isIncomplete = isIncomplete
    }
}

/// Which events are asked for.
package struct EventQuery: Hashable, Sendable {
    /// The last event that the client has.
    ///
    /// A list without it is the newest `limit` events; with it, the first `limit` events that follow.
    package var after: String?
    package var host: HostID?
    /// Empty for every kind.
    package var kinds: Set<String>
    /// How many events at most; 0 in a watch that wants only new ones.
    package var limit: Int

    package init(after: String? = nil, host: HostID? = nil, kinds: Set<String> = [], limit: Int) {
        self.after = after
        self.host = host
        self.kinds = kinds
        self.limit = limit
    }

    /// Whether an event is asked for, apart from its place.
    package func includes(_ event: EventView) -> Bool {
        (host == nil || event.host == host?.rawValue) && (kinds.isEmpty || kinds.contains(event.kind))
    }
}

/// Which log lines are asked for.
package struct LogQuery: Hashable, Sendable {
    /// The sequence number of the last line that the client has; used as in `EventQuery`.
    package var after: Int?
    /// Empty for every category.
    package var categories: Set<LogCategory>
    /// The least level; nil for every level that is kept.
    package var level: LogLevel?
    package var host: HostID?
    /// How many lines at most; 0 in a watch that wants only new ones.
    package var limit: Int

    package init(
        after: Int? = nil, categories: Set<LogCategory> = [], level: LogLevel? = nil, host: HostID? = nil,
        limit: Int
    ) {
        self.after = after
        self.categories = categories
        self.level = level
        self.host = host
        self.limit = limit
    }

    /// Whether a line is asked for, apart from its place.
    package func includes(_ record: LogRecord) -> Bool {
        (categories.isEmpty || categories.contains(record.category))
            && (level.map { record.level >= $0 } ?? true)
            && (host == nil || record.host == host?.rawValue)
    }
}
