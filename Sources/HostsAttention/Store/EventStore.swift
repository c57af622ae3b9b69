import CSQLite
import Glibc
import HostsModel

/// Events and their deliveries in an SQLite file.
///
/// Every call blocks on the disk: it belongs to one isolation domain that runs on a thread of its own. WAL, and
/// `synchronous=FULL`, because with NORMAL the last commits may be lost at a power failure (sqlite.org/pragma.html).
final class EventStore {
    /// The number in `user_version` that this program writes.
    static let schemaVersion = 2
    /// How many events are kept; what is still to be delivered is kept beyond that.
    static let capacity = 10_000
    /// How long another process may hold the file, in milliseconds.
    private static let busyTimeout = 2000

    /// What a run of the daemon begins with.
    struct Contents {
        /// The newest events, oldest first.
        var events: [AttentionEvent] = []
        /// The deliveries of those events, and every pending one.
        var deliveries: [Delivery] = []
        /// Events older than `events` that pending deliveries belong to.
        var olderEvents: [AttentionEvent] = []
        /// What `rules.stale` was told of.
        var staleRules: Set<String> = []
    }

    let path: String
    private let maximumPages: Int?
    private let capacity: Int
    private var database: SQLiteDatabase?
    /// The file that is open, to notice when another or none stands in its place.
    private var openFile: FileIdentity?

    /// Makes a store; nothing is opened yet.
    ///
    /// - Parameters:
    ///   - path: The file; its folder is made if it is not there.
    ///   - capacity: How many events are kept.
    ///   - maximumPages: Largest size in pages of 4 KiB; nil for no limit but the disk.
    init(path: String, capacity: Int = EventStore.capacity, maximumPages: Int? = nil) {
        self.path = path
        self.capacity = capacity
        self.maximumPages = maximumPages
    }

    /// Whether it can be used now.
    var isOpen: Bool { database != nil }

    /// Opens the file, making or migrating it as needed.
    ///
    /// - Throws: `.corrupt` when it was set aside; the next call begins a new one.
    func open(now: WallTime) throws(StoreError) {
        guard database == nil else { return }
        try makePrivateFile()
        do throws(SQLiteError) {
            let opened = try SQLiteDatabase(path: path)
            try opened.execute("PRAGMA busy_timeout = \(Self.busyTimeout)")
            try opened.execute(
                "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON")
            if let maximumPages { try opened.execute("PRAGMA max_page_count = \(maximumPages)") }
            let version = try opened.query("PRAGMA user_version") { $0.integer(0) }.first ?? 0
            if version > Self.schemaVersion {
                throw SQLiteError(code: Self.newerSchema, message: "\(version)")
            }
            try EventSchema.migrate(opened, from: Int(version))
            database = opened
            openFile = FileIdentity(of: path)
        } catch {
            throw translate(error, now)
        }
    }

    /// Ends its use; the write-ahead log is folded into the file.
    func close() {
        database = nil
    }

    /// Writes new and changed events and deliveries, all or nothing.
    ///
    /// - Throws: `.removed` when the file has gone, with all that was in it; the next call begins a new one.
    func save(events: [AttentionEvent], deliveries: [Delivery], now: WallTime) throws(StoreError) {
        // SQLite would write on into a file that nobody can open any more.
        if database != nil, FileIdentity(of: path) != openFile {
            database = nil
            throw .removed(path: path)
        }
        try use(now) { database throws(SQLiteError) in
            try database.transaction { () throws(SQLiteError) in
                for event in events { try EventSchema.write(event, to: database) }
                for delivery in deliveries { try EventSchema.write(delivery, to: database) }
            }
        }
    }

    /// Reads what a run of the daemon begins with: so many of the newest events, and what belongs to them.
    func contents(limit: Int, now: WallTime) throws(StoreError) -> Contents {
        try use(now) { database throws(SQLiteError) in
            var contents = Contents()
            contents.events = try EventSchema.newest(limit, in: database)
            let first = contents.events.first?.id.rawValue ?? ""
            contents.deliveries = try EventSchema.deliveries(from: first, in: database)
            contents.olderEvents = try EventSchema.events(
                "WHERE id < ? AND id IN (SELECT event FROM deliveries WHERE state = 'pending') ORDER BY id",
                [.text(first)], in: database)
            contents.staleRules = Set(
                try database.query(
                    "SELECT DISTINCT key FROM events WHERE kind = ?",
                    [.text(AttentionEvent.Kind.rulesStale.rawValue)]
                ) { $0.text(0) })
            return contents
        }
    }

    /// Events after one, oldest first.
    func events(after id: EventID, limit: Int, now: WallTime) throws(StoreError) -> [AttentionEvent] {
        try use(now) { database throws(SQLiteError) in
            try EventSchema.events(
                "WHERE id > ? ORDER BY id LIMIT ?", [.text(id.rawValue), .integer(Int64(limit))], in: database
            )
        }
    }

    /// How many deliveries were given up, by the name of the hook.
    func deadDeliveries(now: WallTime) throws(StoreError) -> [String: Int] {
        let rows = try use(now) { database throws(SQLiteError) in
            try database.query(
                "SELECT hook, count(*) FROM deliveries WHERE state IN ('dead', 'failed') GROUP BY hook"
            ) { ($0.text(0), Int($0.integer(1))) }
        }
        return Dictionary(rows, uniquingKeysWith: +)
    }

    /// Deletes the oldest events beyond the capacity, but none that is still to be delivered.
    func prune(now: WallTime) throws(StoreError) {
        let capacity = capacity
        try use(now) { database throws(SQLiteError) in
            try database.run(
                """
                DELETE FROM events WHERE id <= (SELECT id FROM events ORDER BY id DESC LIMIT 1 OFFSET ?)
                AND id NOT IN (SELECT event FROM deliveries WHERE state = 'pending')
                """, [.integer(Int64(capacity))])
        }
    }

    /// Writes what the next run goes on from; an earlier one is replaced.
    func save(handover: String, now: WallTime) throws(StoreError) {
        try use(now) { database throws(SQLiteError) in
            try database.run(
                """
                INSERT INTO handover (id, document) VALUES (1, ?)
                ON CONFLICT (id) DO UPDATE SET document = excluded.document
                """, [.text(handover)])
        }
    }

    /// Reads what the last run has left to go on from, and deletes it: it serves once.
    func takeHandover(now: WallTime) throws(StoreError) -> String? {
        try use(now) { database throws(SQLiteError) in
            var found: String?
            try database.transaction { () throws(SQLiteError) in
                found = try database.query("SELECT document FROM handover") { $0.text(0) }.first
                try database.run("DELETE FROM handover", [])
            }
            return found
        }
    }

    private func use<Value>(
        _ now: WallTime, _ body: (SQLiteDatabase) throws(SQLiteError) -> Value
    ) throws(StoreError) -> Value {
        try open(now: now)
        guard let database else { throw .inaccessible(path: path, code: ENOENT) }
        do throws(SQLiteError) {
            return try body(database)
        } catch {
            throw translate(error, now)
        }
    }

    /// Makes the folder (0700) and the file (0600), so that SQLite's own files beside it are private too.
    private func makePrivateFile() throws(StoreError) {
        if let slash = path.lastIndex(of: "/"), slash != path.startIndex {
            let folder = String(path[..<slash])
            guard mkdir(folder, 0o700) == 0 || errno == EEXIST else {
                throw .inaccessible(path: folder, code: errno)
            }
        }
        let file = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else {
            throw errno == ENOSPC ? .full(path: path) : .inaccessible(path: path, code: errno)
        }
        Glibc.close(file)
    }

    /// What tells a file from another one of the same name.
    private struct FileIdentity: Equatable {
        let device: UInt
        let inode: UInt

        init?(of path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            device = UInt(status.st_dev)
            inode = UInt(status.st_ino)
        }
    }

    /// A code that SQLite does not have: the schema is newer than this program.
    private static let newerSchema: Int32 = -1

    private func translate(_ error: SQLiteError, _ now: WallTime) -> StoreError {
        switch error.primary {
        case SQLITE_FULL: return .full(path: path)
        case SQLITE_BUSY, SQLITE_LOCKED: return .busy(path: path)
        case SQLITE_CORRUPT, SQLITE_NOTADB: return setAside(error, now)
        case SQLITE_CANTOPEN, SQLITE_READONLY, SQLITE_PERM:
            // Opened anew at the next use: by then somebody may have mended it.
            database = nil
            return .failed(path: path, code: error.code, detail: error.message)
        case Self.newerSchema & 0xff:
            return .newer(path: path, version: Int(error.message) ?? 0)
        default: return .failed(path: path, code: error.code, detail: error.message)
        }
    }

    private func setAside(_ error: SQLiteError, _ now: WallTime) -> StoreError {
        database = nil
        let aside = "\(path).corrupt-\(now.milliseconds)"
        guard rename(path, aside) == 0 else {
            return .failed(path: path, code: error.code, detail: error.message)
        }
        for suffix in ["-wal", "-shm"] where rename(path + suffix, aside + suffix) != 0 && errno != ENOENT {
            // It would be taken for the log of the new file; SQLite checks its salt, but better that it is gone.
            unlink(path + suffix)
        }
        return .corrupt(path: path, setAside: aside)
    }
}
