import CSQLite

/// A code of SQLite with the words it came with.
struct SQLiteError: Error, Hashable {
    /// The extended result code.
    let code: Int32
    let message: String

    /// The primary result code.
    var primary: Int32 { code & 0xff }
}

/// One connection to an SQLite database; used by one isolation domain only, like everything it hands out.
final class SQLiteDatabase {
    private let raw: OpaquePointer

    /// Opens or creates a database.
    init(path: String) throws(SQLiteError) {
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let code = sqlite3_open_v2(path, &opened, flags, nil)
        // SQLite gives a handle even when it could not open the file: it carries the message.
        guard let opened else { throw SQLiteError(code: code, message: "out of memory") }
        raw = opened
        guard code == SQLITE_OK else { throw error(code) }
    }

    // `close_v2` waits for nothing and cannot fail: a statement that is still there keeps the rest alive.
    deinit { sqlite3_close_v2(raw) }

    /// Runs statements that answer nothing.
    func execute(_ sql: String) throws(SQLiteError) {
        let code = sqlite3_exec(raw, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw error(code) }
    }

    /// Runs one statement and reads every row of its answer.
    ///
    /// - Parameters:
    ///   - sql: One statement, with `?` for each value.
    ///   - values: What the question marks stand for.
    ///   - read: Makes something of one row.
    /// - Returns: What `read` made.
    /// - Throws: What SQLite says.
    func query<Row>(
        _ sql: String, _ values: [SQLiteValue] = [], _ read: (SQLiteRow) throws(SQLiteError) -> Row
    ) throws(SQLiteError) -> [Row] {
        var prepared: OpaquePointer?
        let code = sqlite3_prepare_v2(raw, sql, -1, &prepared, nil)
        guard code == SQLITE_OK, let statement = prepared else { throw error(code) }
        defer { sqlite3_finalize(statement) }
        for (index, value) in values.enumerated() { try bind(value, to: Int32(index + 1), of: statement) }
        var rows: [Row] = []
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW: rows.append(try read(SQLiteRow(statement: statement)))
            case SQLITE_DONE: return rows
            case let code: throw error(code)
            }
        }
    }

    /// Runs one statement that answers nothing.
    func run(_ sql: String, _ values: [SQLiteValue] = []) throws(SQLiteError) {
        _ = try query(sql, values) { _ in }
    }

    /// Runs `body` in one transaction: all of it or nothing.
    func transaction(_ body: () throws(SQLiteError) -> Void) throws(SQLiteError) {
        try execute("BEGIN IMMEDIATE")
        do throws(SQLiteError) {
            try body()
            try execute("COMMIT")
        } catch {
            // After some errors (a full disk) SQLite has rolled back by itself, and this fails: nothing is lost by that.
            sqlite3_exec(raw, "ROLLBACK", nil, nil, nil)
            throw error
        }
    }

    private func bind(_ value: SQLiteValue, to index: Int32, of statement: OpaquePointer) throws(SQLiteError)
    {
        let code =
            switch value {
            case .null: sqlite3_bind_null(statement, index)
            case .integer(let number): sqlite3_bind_int64(statement, index, number)
            case .real(let number): sqlite3_bind_double(statement, index, number)
            case .text(let text): hosts_sqlite_bind_text(statement, index, text, Int32(text.utf8.count))
            }
        guard code == SQLITE_OK else { throw error(code) }
    }

    private func error(_ code: Int32) -> SQLiteError {
        SQLiteError(code: code, message: String(cString: sqlite3_errmsg(raw)))
    }
}

/// A value on its way into a statement.
enum SQLiteValue {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)

    static func optional(_ text: String?) -> SQLiteValue { text.map(SQLiteValue.text) ?? .null }
    static func optional(_ number: Int64?) -> SQLiteValue { number.map(SQLiteValue.integer) ?? .null }
}

/// One row of an answer, valid only while it is read; columns count from 0.
struct SQLiteRow {
    fileprivate let statement: OpaquePointer

    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(statement, column) }

    func optionalInteger(_ column: Int32) -> Int64? {
        sqlite3_column_type(statement, column) == SQLITE_NULL ? nil : integer(column)
    }

    func optionalReal(_ column: Int32) -> Double? {
        sqlite3_column_type(statement, column) == SQLITE_NULL ? nil : sqlite3_column_double(statement, column)
    }

    func optionalText(_ column: Int32) -> String? {
        guard let text = sqlite3_column_text(statement, column) else { return nil }
        let count = Int(sqlite3_column_bytes(statement, column))
        return String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self)
    }

    func text(_ column: Int32) -> String { optionalText(column) ?? "" }
}
