import HostsModel

/// The tables of the event store, and how events and deliveries lie in them.
enum EventSchema {
    private static let eventColumns = """
        id, kind, key, time, host, session, agent, place, reason, turn, gap, summary, delivery, drop_reason
        """
    private static let deliveryColumns = """
        event, hook, lane, created, clears, state, attempts, failures, next_attempt, note
        """

    /// Brings a database from an older version to the present one, in one transaction.
    static func migrate(_ database: SQLiteDatabase, from version: Int) throws(SQLiteError) {
        guard version < EventStore.schemaVersion else { return }
        try database.transaction { () throws(SQLiteError) in
            if version < 1 { try makeEvents(database) }
            try database.execute(
                """
                CREATE TABLE handover (id INTEGER PRIMARY KEY CHECK (id = 1), document TEXT NOT NULL) STRICT;
                PRAGMA user_version = \(EventStore.schemaVersion);
                """)
        }
    }

    private static func makeEvents(_ database: SQLiteDatabase) throws(SQLiteError) {
        try database.execute(
            """
            CREATE TABLE events (
                id TEXT PRIMARY KEY, kind TEXT NOT NULL, key TEXT NOT NULL, time INTEGER NOT NULL, host TEXT,
                session TEXT, agent TEXT, place TEXT, reason TEXT, turn TEXT, gap REAL, summary TEXT NOT NULL,
                delivery TEXT NOT NULL, drop_reason TEXT
            ) STRICT, WITHOUT ROWID;
            CREATE TABLE deliveries (
                event TEXT NOT NULL REFERENCES events (id) ON DELETE CASCADE, hook TEXT NOT NULL,
                lane TEXT NOT NULL, created INTEGER NOT NULL, clears TEXT, state TEXT NOT NULL,
                attempts INTEGER NOT NULL, failures INTEGER NOT NULL, next_attempt INTEGER, note TEXT,
                PRIMARY KEY (event, hook)
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX deliveries_by_state ON deliveries (state, event);
            """)
    }

    static func write(_ event: AttentionEvent, to database: SQLiteDatabase) throws(SQLiteError) {
        // Not REPLACE: that would delete the row first, and its deliveries with it.
        try database.run(
            """
            INSERT INTO events (\(eventColumns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (id) DO UPDATE SET delivery = excluded.delivery, drop_reason = excluded.drop_reason
            """,
            [
                .text(event.id.rawValue), .text(event.kind.rawValue), .text(event.key),
                .integer(event.time.milliseconds), .optional(event.host?.rawValue),
                .optional(event.session?.rawValue), .optional(event.agent?.rawValue), .optional(event.place),
                .optional(event.reason), .optional(event.turn), event.gap.map { .real($0.seconds) } ?? .null,
                .text(event.summary), .text(event.delivery.word),
                .optional(event.delivery.dropReason?.rawValue),
            ])
    }

    static func write(_ delivery: Delivery, to database: SQLiteDatabase) throws(SQLiteError) {
        try database.run(
            """
            INSERT INTO deliveries (\(deliveryColumns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (event, hook) DO UPDATE SET state = excluded.state, attempts = excluded.attempts,
            failures = excluded.failures, next_attempt = excluded.next_attempt, note = excluded.note
            """,
            [
                .text(delivery.id.event.rawValue), .text(delivery.id.hook), .text(delivery.lane),
                .integer(delivery.created.milliseconds), .optional(delivery.clears?.rawValue),
                .text(delivery.state.rawValue), .integer(Int64(delivery.attempts)),
                .integer(Int64(delivery.failures)), .optional(delivery.nextAttempt?.milliseconds),
                .optional(delivery.note),
            ])
    }

    /// The newest events, oldest first.
    static func newest(_ limit: Int, in database: SQLiteDatabase) throws(SQLiteError) -> [AttentionEvent] {
        try events("ORDER BY id DESC LIMIT ?", [.integer(Int64(limit))], in: database).reversed()
    }

    /// Events that a clause selects.
    ///
    /// A row that this program cannot have written is skipped.
    static func events(
        _ clause: String, _ values: [SQLiteValue], in database: SQLiteDatabase
    ) throws(SQLiteError) -> [AttentionEvent] {
        try database.query("SELECT \(eventColumns) FROM events \(clause)", values, event(from:)).compactMap {
            $0
        }
    }

    /// The deliveries of the events from one on, and every pending one, in the order of the events.
    static func deliveries(from id: String, in database: SQLiteDatabase) throws(SQLiteError) -> [Delivery] {
        try database.query(
            "SELECT \(deliveryColumns) FROM deliveries WHERE event >= ? OR state = 'pending' ORDER BY event, hook",
            [.text(id)], delivery(from:)
        ).compactMap { $0 }
    }

    private static func event(from row: SQLiteRow) throws(SQLiteError) -> AttentionEvent? {
        guard let id = EventID(rawValue: row.text(0)), let kind = AttentionEvent.Kind(rawValue: row.text(1)),
            let status = DeliveryStatus(word: row.text(12), dropReason: row.optionalText(13))
        else { return nil }
        return AttentionEvent(
            id: id, kind: kind, key: row.text(2), time: WallTime(milliseconds: row.integer(3)),
            host: row.optionalText(4).flatMap(HostID.init(rawValue:)),
            session: row.optionalText(5).map(SessionID.init(rawValue:)),
            agent: row.optionalText(6).map(AgentName.init(rawValue:)), place: row.optionalText(7),
            reason: row.optionalText(8), turn: row.optionalText(9),
            gap: row.optionalReal(10).map { .seconds($0) },
            summary: row.text(11), delivery: status)
    }

    private static func delivery(from row: SQLiteRow) throws(SQLiteError) -> Delivery? {
        guard let event = EventID(rawValue: row.text(0)), let state = Delivery.State(rawValue: row.text(5))
        else {
            return nil
        }
        return Delivery(
            id: Delivery.ID(event: event, hook: row.text(1)), lane: row.text(2),
            created: WallTime(milliseconds: row.integer(3)),
            clears: row.optionalText(4).flatMap(EventID.init(rawValue:)), state: state,
            attempts: Int(clamping: row.integer(6)), failures: Int(clamping: row.integer(7)),
            nextAttempt: row.optionalInteger(8).map(WallTime.init(milliseconds:)), note: row.optionalText(9))
    }
}
