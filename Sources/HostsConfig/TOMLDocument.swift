import CTOML
package import HostsModel

/// A parsed TOML file: plain values that know where they stand.
///
/// Nothing of the C side outlives `init`.
package struct TOMLDocument: Hashable, Sendable {
    /// Largest file that is read; configuration files are a few KiB.
    package static let sizeLimit = ByteCount.kibibytes(256)

    /// Most dots in one line.
    ///
    /// toml++ 3.3.0 bounds the nesting of values (256) but not that of dotted keys, and frees both by recursion:
    /// a line of a hundred thousand dots would overflow the stack. No key and no pattern comes near this.
    package static let dotsPerLineLimit = 100

    /// The name of the file, as the diagnostics show it.
    package let file: String
    /// The top-level table.
    package let root: TOMLTable

    /// Parses the content of a file.
    ///
    /// toml++ stops at its first error, so a syntax error is always a single one.
    ///
    /// - Parameters:
    ///   - bytes: The content; a BOM and CRLF are fine, invalid UTF-8 is an error.
    ///   - file: The name that locations carry.
    /// - Throws: The syntax error, or the limit that was passed.
    package init(parsing bytes: [UInt8], file: String) throws(Diagnostic) {
        try Self.checkLimits(of: bytes, file: file)
        self.file = file
        switch Self.tree(of: bytes, file: file) {
        case .success(let root): self.root = root
        case .failure(let diagnostic): throw diagnostic
        }
    }

    private static func checkLimits(of bytes: [UInt8], file: String) throws(Diagnostic) {
        guard bytes.count <= sizeLimit.bytes else {
            throw .error(
                at: .whole(file), "the file is too large: at most \(sizeLimit) are read")
        }
        var line = 1
        var dots = 0
        for byte in bytes {
            if byte == 0x0a {
                line += 1
                dots = 0
            } else if byte == 0x2e {
                dots += 1
                guard dots <= dotsPerLineLimit else {
                    throw .error(
                        at: SourceLocation(file: file, line: line, column: 1),
                        "more than \(dotsPerLineLimit) dots in one line")
                }
            }
        }
    }

    private static func tree(of bytes: [UInt8], file: String) -> Result<TOMLTable, Diagnostic> {
        let document = unsafe bytes.withUnsafeBytes { buffer in
            unsafe hosts_toml_parse(buffer.baseAddress?.assumingMemoryBound(to: CChar.self), buffer.count)
        }
        guard let document = unsafe document else {
            return .failure(.error(at: .whole(file), "not enough memory to read the file"))
        }
        defer { unsafe hosts_toml_free(document) }
        if let text = unsafe hosts_toml_error(document) {
            let position = unsafe hosts_toml_error_position(document)
            return unsafe .failure(
                TOMLSyntaxError.diagnostic(
                    message: String(cString: text), at: SourceLocation(position, in: file), bytes: bytes))
        }
        guard let root = unsafe hosts_toml_root(document) else {
            return .failure(.error(at: .whole(file), "the file could not be read as TOML"))
        }
        return unsafe .success(TOMLTable(copying: root, file: file))
    }
}

/// One value of a TOML file, with the place where it begins.
package struct TOMLValue: Hashable, Sendable {
    package indirect enum Content: Hashable, Sendable {
        case table(TOMLTable)
        case array([TOMLValue])
        case string(String)
        case integer(Int64)
        case float(Double)
        case boolean(Bool)
        /// A date or a time: nothing here is configured with one.
        case other
    }

    package let content: Content
    package let location: SourceLocation

    package init(_ content: Content, at location: SourceLocation) {
        self.content = content
        self.location = location
    }

    /// What it is, in words, as in "a string".
    package var kind: String {
        switch content {
        case .table: "a table"
        case .array: "an array"
        case .string: "a string"
        case .integer: "an integer"
        case .float: "a number with a fraction"
        case .boolean: "a boolean"
        case .other: "a date or time"
        }
    }
}

/// A table of a TOML file; its members stand in the order of the file.
package struct TOMLTable: Hashable, Sendable {
    /// A key and what was written for it.
    package struct Member: Hashable, Sendable {
        package let key: String
        package let keyLocation: SourceLocation
        package let value: TOMLValue

        package init(key: String, keyLocation: SourceLocation, value: TOMLValue) {
            self.key = key
            self.keyLocation = keyLocation
            self.value = value
        }
    }

    package let members: [Member]

    package init(members: [Member]) {
        self.members = members
    }

    /// The member with that key, if there is one; a key stands once in a table.
    package subscript(key: String) -> Member? { members.first { $0.key == key } }
}

extension TOMLTable {
    fileprivate init(copying node: OpaquePointer, file: String) {
        members = (0..<(unsafe hosts_toml_count(node))).compactMap { index in
            guard let child = unsafe hosts_toml_child(node, index) else { return nil }
            var length = 0
            let key = unsafe hosts_toml_key(node, index, &length)
            let position = unsafe hosts_toml_key_position(node, index)
            return Member(
                key: unsafe String(key, length: length), keyLocation: SourceLocation(position, in: file),
                value: unsafe TOMLValue(copying: child, file: file))
        }
    }
}

extension TOMLValue {
    fileprivate init(copying node: OpaquePointer, file: String) {
        location = unsafe SourceLocation(hosts_toml_node_position(node), in: file)
        content = unsafe Self.content(of: node, file: file)
    }

    private static func content(of node: OpaquePointer, file: String) -> Content {
        let kind = unsafe hosts_toml_node_kind(node)
        if kind == HOSTS_TOML_TABLE { return unsafe .table(TOMLTable(copying: node, file: file)) }
        if kind == HOSTS_TOML_ARRAY {
            return .array(
                (0..<(unsafe hosts_toml_count(node))).compactMap { index in
                    guard let child = unsafe hosts_toml_child(node, index) else { return nil }
                    return unsafe TOMLValue(copying: child, file: file)
                })
        }
        if kind == HOSTS_TOML_STRING {
            var length = 0
            let text = unsafe hosts_toml_string(node, &length)
            return unsafe .string(String(text, length: length))
        }
        if kind == HOSTS_TOML_INTEGER { return unsafe .integer(hosts_toml_integer(node)) }
        if kind == HOSTS_TOML_FLOAT { return unsafe .float(hosts_toml_float(node)) }
        if kind == HOSTS_TOML_BOOLEAN { return unsafe .boolean(hosts_toml_boolean(node)) }
        return .other
    }
}

extension SourceLocation {
    fileprivate init(_ position: hosts_toml_position, in file: String) {
        self.init(file: file, line: Int(position.line), column: Int(position.column))
    }
}

extension String {
    /// Copies `length` bytes of UTF-8 that toml++ has checked.
    fileprivate init(_ text: UnsafePointer<CChar>?, length: Int) {
        let bytes = unsafe UnsafeRawBufferPointer(start: text, count: text == nil ? 0 : length)
        self = unsafe String(decoding: bytes, as: UTF8.self)
    }
}
