/// The two requests of the ssh-agent protocol that are used (RFC draft-miller-ssh-agent sections 3.5 and
/// 3.6).
enum AgentMessages {
    /// Longest reply that is accepted; OpenSSH's agent has the same bound (AGENT_MAX_LEN).
    static let replyLimit = 256 * 1024
    static let headerSize = 4
    /// Most keys of one agent; OpenSSH's client has the same bound (MAX_AGENT_IDENTITIES).
    static let identityLimit = 2048

    /// SSH_AGENT_FAILURE, and what older agents say instead (OpenSSH's authfd.h).
    private static let failures: Set<UInt8> = [5, 30, 102]
    private static let requestIdentities: UInt8 = 11
    private static let identitiesAnswer: UInt8 = 12
    private static let signRequest: UInt8 = 13
    private static let signResponse: UInt8 = 14
    /// SSH_AGENT_RSA_SHA2_256 and SSH_AGENT_RSA_SHA2_512: an RSA key signs with these instead of SHA-1.
    private static let signatureFlags: [String: UInt32] = ["rsa-sha2-256": 2, "rsa-sha2-512": 4]

    /// What an agent answers when it is asked for a signature.
    enum SignReply: Hashable, Sendable {
        /// Without the name of its algorithm.
        case signature([UInt8])
        case refused
    }

    static func listRequest() -> [UInt8] { framed([requestIdentities]) }

    static func signRequest(key: PublicKey, data: [UInt8]) -> [UInt8] {
        var writer = SSHWriter()
        writer.byte(signRequest)
        writer.string(key.blob)
        writer.string(data)
        writer.uint32(signatureFlags[signatureAlgorithm(key, data)] ?? 0)
        return framed(writer.bytes)
    }

    /// The keys in a reply, or nil if it is none.
    ///
    /// Keys of a form that cannot be read are left out.
    static func identities(_ reply: [UInt8]) -> [AgentIdentity]? {
        var reader = SSHReader(reply)
        guard reader.byte() == identitiesAnswer, let count = reader.uint32(),
            count <= identityLimit
        else { return nil }
        var identities: [AgentIdentity] = []
        for _ in 0..<count {
            guard let blob = reader.string(), let comment = reader.text() else { return nil }
            guard let key = PublicKey(blob: Array(blob)) else { continue }
            identities.append(AgentIdentity(key: key, comment: comment))
        }
        return identities
    }

    /// What a reply says, or nil if it makes no sense.
    ///
    /// An agent that signs by another algorithm than the one it was asked for, such as an old one that knows no SHA-2
    /// for RSA, has refused: no server takes that.
    static func signature(_ reply: [UInt8], by key: PublicKey, of data: [UInt8]) -> SignReply? {
        var reader = SSHReader(reply)
        guard let kind = reader.byte() else { return nil }
        if failures.contains(kind) { return .refused }
        guard kind == signResponse, let wrapped = reader.string() else { return nil }
        var signature = SSHReader(wrapped)
        guard let algorithm = signature.text(), let raw = signature.string() else { return nil }
        return algorithm == signatureAlgorithm(key, data) ? .signature(Array(raw)) : .refused
    }

    /// The algorithm by which the data are to be signed, which they name themselves (RFC 4252 section 7): after the
    /// session id, a byte, user, service, method and a boolean.
    private static func signatureAlgorithm(_ key: PublicKey, _ data: [UInt8]) -> String {
        guard key.type == PublicKey.rsaType else { return key.type }
        var reader = SSHReader(data)
        guard reader.string() != nil, reader.byte() != nil, reader.string() != nil, reader.string() != nil,
            reader.string() != nil, reader.byte() != nil, let name = reader.text(),
            signatureFlags[name] != nil
        else { return PublicKey.rsaSignatureType }
        return name
    }

    private static func framed(_ payload: [UInt8]) -> [UInt8] {
        var writer = SSHWriter()
        writer.string(payload)
        return writer.bytes
    }
}

/// A key that an agent holds.
struct AgentIdentity: Hashable, Sendable {
    let key: PublicKey
    /// Often a path or a mail address; text from elsewhere.
    let comment: String
}
