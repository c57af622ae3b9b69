import FoundationEssentials
package import HostsAPI
package import HostsModel

/// One request as it came: nothing in it has been believed yet.
package struct HTTPRequest: Hashable, Sendable {
    /// Largest request body.
    package static let bodyLimit = ByteCount.kibibytes(64)

    package let method: String
    /// The request target of RFC 9112, not decoded.
    package let target: String
    /// Field names in lower case; a field that came twice has two values.
    package let fields: [String: [String]]
    /// Nil if the kernel did not say.
    package let peer: Peer?
    /// What was sent, which may be more than was kept.
    package let bodySize: ByteCount
    /// Nil where nothing was sent, or too much; may hold a passphrase, so nobody logs it.
    package let body: SecretBytes?

    package init(
        method: String, target: String, fields: [String: [String]] = [:], peer: Peer? = nil,
        bodySize: ByteCount = .bytes(0), body: SecretBytes? = nil
    ) {
        self.method = method
        self.target = target
        self.fields = fields
        self.peer = peer
        self.bodySize = bodySize
        self.body = body
    }

    /// The first value of a field.
    ///
    /// - Parameter name: In lower case.
    /// - Returns: The value as it came; nil if the field is missing.
    package func field(_ name: String) -> String? { fields[name]?.first }
}

/// A whole response.
package struct HTTPResponse: Hashable, Sendable {
    package var status: Int
    package var contentType: String
    package var body: [UInt8]
    /// The methods that the path has (RFC 9110, section 10.2.1); empty unless the status is 405.
    package var allow: [String] = []

    package init(status: Int, contentType: String, body: [UInt8]) {
        self.status = status
        self.contentType = contentType
        self.body = body
    }

    /// A document as JSON.
    package init(document: some Encodable, status: Int = 200) {
        self.init(status: status, contentType: "application/json", body: Self.json(document))
    }

    /// An error as its document.
    package init(error: APIError) {
        self.init(document: error.document, status: error.status)
    }

    /// A document as one line of JSON, its members sorted.
    static func json(_ document: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        do {
            return Array(try encoder.encode(document))
        } catch {
            preconditionFailure("a document of the wire has only members that JSON knows: \(error)")
        }
    }
}

/// What a handler answers.
package enum RouteAnswer: Sendable {
    case response(HTTPResponse)
    case stream(StreamAnswer)

    static func document(_ document: some Encodable) -> RouteAnswer {
        .response(HTTPResponse(document: document))
    }
    static func error(_ error: APIError) -> RouteAnswer { .response(HTTPResponse(error: error)) }
}
