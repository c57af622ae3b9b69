/// The key that a server shows, and what the person's known_hosts files say about it.
package struct HostKeyView: Codable, Hashable, Sendable {
    /// As in known_hosts, such as `[devbox.example]:2222`; a jump host's where that is not trusted yet.
    package var name: String
    /// Such as `ssh-ed25519`.
    package var type: String
    /// `SHA256:…`, as `ssh-keygen -l` shows it.
    package var fingerprint: String
    /// What the files said when the server was asked: `known unknown changed revoked`.
    package var verdict: String
    /// The fingerprint that the files have instead; null unless `changed`.
    @OrNull package var expected: String?
    /// The file that the key is added to; where it has changed, the one that holds the other key.
    package var file: String

    package init(
        name: String, type: String, fingerprint: String, verdict: String, expected: String?, file: String
    ) {
        self.name = name
        self.type = type
        self.fingerprint = fingerprint
        self.verdict = verdict
        self.expected = expected
        self.file = file
    }
}

/// The answer to `POST /v1/hosts/NAME/trust`.
package struct TrustDocument: Codable, Hashable, Sendable {
    package var schema: Int
    package var host: String
    package var key: HostKeyView
    /// Whether the key was added now: false for a question, and for a key that was known.
    package var added: Bool

    package init(host: String, key: HostKeyView, added: Bool) {
        schema = apiSchema
        self.host = host
        self.key = key
        self.added = added
    }
}

/// The answer to `POST /v1/hosts/NAME/unlock`.
package struct UnlockDocument: Codable, Hashable, Sendable {
    package var schema: Int
    package var host: String
    /// The paths of the keys that the passphrase has opened.
    package var keys: [String]

    package init(host: String, keys: [String]) {
        schema = apiSchema
        self.host = host
        self.keys = keys
    }
}

/// The body of `POST /v1/hosts/NAME/trust`: nothing, `{}`, or `{"fingerprint":"SHA256:…"}`.
package enum TrustBody {
    /// Whether a text is a fingerprint as `ssh-keygen -l` shows it.
    ///
    /// That is SHA-256 in Base64 without padding (RFC 4648).
    package static func isFingerprint(_ text: String) -> Bool {
        let prefix = "SHA256:"
        let digits = text.utf8.dropFirst(prefix.utf8.count)
        return text.hasPrefix(prefix) && digits.count == 43
            && digits.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "+"), UInt8(ascii: "/"):
                    true
                default: false
                }
            }
    }

    /// Writes the body that accepts a key.
    ///
    /// - Parameter fingerprint: One that `isFingerprint` takes, so that nothing in it needs an escape.
    /// - Returns: The body.
    package static func encoded(_ fingerprint: String) -> SecretBytes {
        SecretBytes(copying: "{\"fingerprint\":\"\(fingerprint)\"}".utf8)
    }
}
