import FoundationEssentials

/// One request to the daemon, as a value; the client's side of the table of routes.
package struct APIRequest: Hashable, Sendable {
    package enum Method: String, Hashable, Sendable {
        case get = "GET"
        case post = "POST"
        case patch = "PATCH"
        case delete = "DELETE"
    }

    /// What can be done to a host.
    package enum HostAction: String, Hashable, Sendable, CaseIterable {
        case enable, disable, probe, resume, cancel, check
    }

    /// One `name=value` of the query.
    package struct Item: Hashable, Sendable {
        package let name: String
        package let value: String

        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    package let method: Method
    /// The parts of the path after the root, not encoded.
    package let path: [String]
    package let query: [Item]
    /// JSON; of a POST or PATCH only.
    package let body: SecretBytes?

    package init(_ method: Method, _ path: [String], query: [Item] = [], body: SecretBytes? = nil) {
        self.method = method
        self.path = path
        self.query = query
        self.body = body
    }

    package static let status = APIRequest(.get, ["v1", "status"])
    package static let version = APIRequest(.get, ["v1", "version"])
    package static let hosts = APIRequest(.get, ["v1", "hosts"])
    package static let hooks = APIRequest(.get, ["v1", "hooks"])
    package static let reload = APIRequest(.post, ["v1", "reload"])

    package static let refresh = APIRequest(.post, ["v1", "refresh"])

    /// Plays something; the host is for `keepalive` only, where nil means the first.
    package static func debug(_ action: DebugAction, host: String? = nil) -> APIRequest {
        APIRequest(.post, ["v1", "debug", action.rawValue], query: items([("host", host)]))
    }

    package static func host(_ name: String) -> APIRequest { APIRequest(.get, ["v1", "hosts", name]) }

    package static func act(_ action: HostAction, on name: String) -> APIRequest {
        APIRequest(.post, ["v1", "hosts", name, action.rawValue])
    }

    /// Asks a host for its key, or adds it to known_hosts.
    ///
    /// - Parameters:
    ///   - name: The host.
    ///   - fingerprint: Of the key that the person accepts; nil for the question.
    /// - Returns: The request.
    package static func trust(_ name: String, fingerprint: String? = nil) -> APIRequest {
        APIRequest(.post, ["v1", "hosts", name, "trust"], body: fingerprint.map { TrustBody.encoded($0) })
    }

    /// Opens the keys of a host that have a passphrase.
    ///
    /// - Parameters:
    ///   - name: The host.
    ///   - body: From `PassphraseBody`.
    /// - Returns: The request.
    package static func unlock(_ name: String, _ body: SecretBytes) -> APIRequest {
        APIRequest(.post, ["v1", "hosts", name, "unlock"], body: body)
    }

    /// Makes the record of a new host.
    ///
    /// - Parameter members: `name`, and the keys of the record.
    /// - Returns: The request.
    package static func add(_ members: [String: RecordValueBody]) -> APIRequest {
        APIRequest(.post, ["v1", "hosts"], body: encoded(members))
    }

    /// Puts the files of a host aside.
    package static func remove(_ name: String) -> APIRequest { APIRequest(.delete, ["v1", "hosts", name]) }

    /// Writes keys into the override of a host, or takes them out.
    ///
    /// - Parameters:
    ///   - name: The host.
    ///   - members: The keys.
    /// - Returns: The request.
    package static func set(_ name: String, _ members: [String: RecordValueBody]) -> APIRequest {
        APIRequest(.patch, ["v1", "hosts", name], body: encoded(members))
    }

    private static func encoded(_ members: [String: RecordValueBody]) -> SecretBytes {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        guard let body = try? encoder.encode(members) else {
            preconditionFailure("texts, flags and lists of texts can always be encoded")
        }
        return SecretBytes(copying: body)
    }

    /// Opens a window on a host, for as long as the stream is read.
    ///
    /// - Parameters:
    ///   - name: The host.
    ///   - session: An agent session of it; nil for a shell.
    /// - Returns: The request, whose answer is a stream.
    package static func attach(_ name: String, session: String? = nil) -> APIRequest {
        APIRequest(.post, ["v1", "hosts", name, "attach"], body: session.map { AttachBody.encoded($0) })
    }

    /// Agent sessions.
    ///
    /// - Parameters:
    ///   - host: Only those of one host.
    ///   - isUnknown: Only those whose state or rules are not understood.
    /// - Returns: The request.
    package static func sessions(host: String? = nil, isUnknown: Bool = false) -> APIRequest {
        APIRequest(
            .get, ["v1", "sessions"], query: items([("host", host), ("unknown", isUnknown ? "1" : nil)]))
    }

    package static func session(_ id: String) -> APIRequest { APIRequest(.get, ["v1", "sessions", id]) }

    package static func explain(_ id: String) -> APIRequest {
        APIRequest(.get, ["v1", "sessions", id, "explain"])
    }

    /// Events, oldest first.
    ///
    /// - Parameters:
    ///   - id: Only events after this one.
    ///   - limit: At most so many, the newest ones.
    ///   - host: Only events about this host.
    ///   - kind: Only events of this kind, such as `needs.you`.
    /// - Returns: The request for the list; see `following` for the stream.
    package static func events(
        after id: String? = nil, limit: Int? = nil, host: String? = nil, kind: String? = nil
    ) -> APIRequest {
        APIRequest(
            .get, ["v1", "events"],
            query: items([("after", id), ("limit", limit.map(String.init)), ("host", host), ("kind", kind)]))
    }

    /// Log lines, oldest first.
    ///
    /// - Parameters:
    ///   - categories: Only lines of these categories; all if empty.
    ///   - level: Only lines of this level and above.
    ///   - host: Only lines about this host.
    ///   - limit: At most so many, the newest ones.
    /// - Returns: The request for the list; see `following` for the stream.
    package static func logs(
        categories: [String] = [], level: String? = nil, host: String? = nil, limit: Int? = nil
    ) -> APIRequest {
        let categories = categories.isEmpty ? nil : categories.joined(separator: ",")
        return APIRequest(
            .get, ["v1", "logs"],
            query: items([
                ("category", categories), ("level", level), ("host", host), ("limit", limit.map(String.init)),
            ]))
    }

    /// The same list as a stream that goes on.
    package var following: APIRequest { APIRequest(method, path, query: query + [Item("follow", "1")]) }

    /// The same without the bounds that meant the first answer only.
    package var resumed: APIRequest {
        APIRequest(method, path, query: query.filter { $0.name != "limit" && $0.name != "after" })
    }

    /// Path and query, percent-encoded (RFC 3986).
    package var target: String {
        var target = path.map { "/" + Self.encoded($0) }.joined()
        for (index, item) in query.enumerated() {
            target += (index == 0 ? "?" : "&") + Self.encoded(item.name) + "=" + Self.encoded(item.value)
        }
        return target
    }

    private static func items(_ pairs: [(String, String?)]) -> [Item] {
        pairs.compactMap { name, value in value.map { Item(name, $0) } }
    }

    /// Leaves the unreserved characters of RFC 3986 section 2.3 as they are.
    private static func encoded(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF")
        var result = ""
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x2e, 0x5f, 0x7e:
                result.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                result.append("%")
                result.append(digits[Int(byte >> 4)])
                result.append(digits[Int(byte & 0x0f)])
            }
        }
        // A part of only dots would be taken for a step up the tree.
        return result == "." || result == ".." ? result.replacing(".", with: "%2E") : result
    }
}
