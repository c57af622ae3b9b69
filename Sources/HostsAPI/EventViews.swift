/// One event, as `GET /v1/events` lists it and a hook reads it on standard input.
package struct EventView: Codable, Hashable, Sendable {
    package var schema: Int
    package var id: String
    /// What happened, such as `turn.ended`, `needs.you` or `host.lost`.
    package var kind: String
    /// What the event is about; later events on the same matter carry the same key.
    package var key: String
    package var time: APITime
    @OrNull package var host: String?
    @OrNull package var session: String?
    @OrNull package var agent: String?
    @OrNull package var place: String?
    @OrNull package var reason: String?
    @OrNull package var turn: String?
    /// Whether it was found after a gap in sight.
    package var late: Bool
    package var gapSeconds: Double
    package var summary: String
    /// `pending delivered dropped failed`.
    package var delivery: String
    /// `focused locked muted disabled no-hook duplicate storm`; null unless dropped.
    @OrNull package var dropReason: String?

    package init(
        id: String, kind: String, key: String, time: APITime, host: String?, session: String?, agent: String?,
        place: String?, reason: String?, turn: String?, late: Bool, gapSeconds: Double, summary: String,
        delivery: String, dropReason: String?
    ) {
        schema = apiSchema
        self.id = id
        self.kind = kind
        self.key = key
        self.time = time
        self.host = host
        self.session = session
        self.agent = agent
        self.place = place
        self.reason = reason
        self.turn = turn
        self.late = late
        self.gapSeconds = gapSeconds
        self.summary = summary
        self.delivery = delivery
        self.dropReason = dropReason
    }
}

/// `GET /v1/events`, oldest first.
package struct EventList: Codable, Hashable, Sendable {
    package var schema: Int
    package var events: [EventView]

    package init(events: [EventView]) {
        schema = apiSchema
        self.events = events
    }
}

/// One log line, as `GET /v1/logs` lists it.
package struct LogView: Codable, Hashable, Sendable {
    package var schema: Int
    /// Counts up in one run of the daemon.
    package var sequence: Int
    package var time: APITime
    package var category: String
    package var level: String
    package var event: String
    package var message: String
    /// The typed facts, as text.
    package var fields: [String: String]

    package init(
        sequence: Int, time: APITime, category: String, level: String, event: String, message: String,
        fields: [String: String]
    ) {
        schema = apiSchema
        self.sequence = sequence
        self.time = time
        self.category = category
        self.level = level
        self.event = event
        self.message = message
        self.fields = fields
    }
}

/// `GET /v1/logs`, oldest first.
package struct LogList: Codable, Hashable, Sendable {
    package var schema: Int
    package var logs: [LogView]

    package init(logs: [LogView]) {
        schema = apiSchema
        self.logs = logs
    }
}
