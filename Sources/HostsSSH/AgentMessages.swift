/// The two requests of the ssh-agent protocol that are used (RFC draft-miller-ssh-agent sections 3.5 and
/// 3.6).
enum AgentMessages {
    /// Longest reply that is accepted; OpenSSH's agent has the same bound (AGENT_MAX_LEN).
    static let replyLimit = 256 * 1024
    static let headerSize = 4

    private static let failure: UInt8 = 5
    private static let requestIdentities: UInt8 = 11
    private static let identitiesAnswer: UInt8 = 12
    private static let signRequest: UInt8 = 13
    private static let signResponse: UInt8 = 14
    /// SSH_AGENT_RSA_SHA2_512: the agent signs an RSA key with SHA-512 instead of SHA-1.
    private static let flagRSASHA512: UInt32 = 4

    static func listRequest() -> [UInt8] { framed([requestIdentities]) }

    static func signRequest(key: PublicKey, data: [UInt8]) -> [UInt8] {
        var writer = SSHWriter()
        writer.byte(signRequest)
        writer.string(key.blob)
        writer.string(data)
        writer.uint32(key.type == PublicKey.rsaType ? flagRSASHA512 : 0)
        return framed(writer.bytes)
    }

    /// The keys in a reply, or nil if it is none.
    ///
    /// Keys of a form that cannot be read are left out.
    static func identities(_ reply: [UInt8]) -> [AgentIdentity]? {
        var reader = SSHReader(reply)
        guard reader.byte() == identitiesAnswer, let count = reader.uint32() else { return nil }
        var identities: [AgentIdentity] = []
        for _ in 0..<count {
            guard let blob = reader.string(), let comment = reader.text() else { return nil }
            guard let key = PublicKey(blob: Array(blob)) else { continue }
            identities.append(AgentIdentity(key: key, comment: comment))
        }
        return identities
    }

    /// The bare signature of a reply, without the name of its algorithm; nil when the agent refused.
    static func signature(_ reply: [UInt8]) -> [UInt8]? {
        var reader = SSHReader(reply)
        guard reader.byte() == signResponse, let wrapped = reader.string() else { return nil }
        var signature = SSHReader(wrapped)
        guard signature.string() != nil, let raw = signature.string() else { return nil }
        return Array(raw)
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
