import CSSH

/// The algorithms that are offered to a server.
///
/// One list serves all versions of libssh2: names that the loaded one does not know are left out. Left out on purpose:
/// SHA-1 MACs, CBC, RC4, 3DES, group1, DSA (all broken or weak), and `ssh-rsa` host keys (SHA-1) unless
/// nothing but an RSA key of the host is known and libssh2 knows no better name.
struct MethodPreferences: Hashable, Sendable {
    static let keyExchange = [
        "curve25519-sha256", "curve25519-sha256@libssh.org", "ecdh-sha2-nistp256", "ecdh-sha2-nistp384",
        "ecdh-sha2-nistp521", "diffie-hellman-group16-sha512", "diffie-hellman-group18-sha512",
        "diffie-hellman-group-exchange-sha256", "diffie-hellman-group14-sha256",
    ]
    static let ciphers = [
        "chacha20-poly1305@openssh.com", "aes256-gcm@openssh.com", "aes128-gcm@openssh.com", "aes256-ctr",
        "aes192-ctr", "aes128-ctr",
    ]
    static let macs = [
        "hmac-sha2-256-etm@openssh.com", "hmac-sha2-512-etm@openssh.com", "hmac-sha2-256", "hmac-sha2-512",
    ]
    /// As OpenSSH prefers them, so that both show the same key of an unknown host.
    static let hostKeys = [
        "ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521", "rsa-sha2-512",
        "rsa-sha2-256",
    ]

    let hostKeyOrder: [String]

    /// Puts the types that known_hosts holds first: a host that is known by one type never looks changed
    /// because another one was negotiated.
    ///
    /// - Parameters:
    ///   - knownTypes: Key types from known_hosts.
    ///   - configured: HostKeyAlgorithms of ssh_config; nil or empty: no restriction.
    init(knownTypes: [String], configured: [String]? = nil) {
        var known = knownTypes.flatMap(Self.algorithms(of:))
        if knownTypes == [PublicKey.rsaType] { known.append(PublicKey.rsaType) }
        var order = known.filter { Self.hostKeys.contains($0) || $0 == PublicKey.rsaType }
        order += Self.hostKeys.filter { !order.contains($0) }
        if let configured, !configured.isEmpty {
            // `ssh-rsa` is in the list only as what an old libssh2 makes of the RSA key that the person
            // trusts.
            let allowed = order.filter {
                configured.contains($0) || ($0 == PublicKey.rsaType && Self.allowsRSA(configured))
            }
            // None of them is ours: the negotiation will fail and say what the server offers.
            if !allowed.isEmpty { order = allowed }
        }
        hostKeyOrder = order
    }

    /// Whether a server can be asked for its host key of this type, and every server that has one would show it.
    ///
    /// libssh2 1.10.0 asks for RSA keys by `ssh-rsa` only, which OpenSSH 8.8 and later do not answer.
    static func canAsk(for keyType: String) -> Bool {
        guard keyType == PublicKey.rsaType else { return hostKeys.contains(keyType) }
        return hosts_ssh_library_version() >= 0x010b00
    }

    private static func allowsRSA(_ configured: [String]) -> Bool {
        configured.contains { algorithms(of: PublicKey.rsaType).contains($0) }
    }

    private static func algorithms(of keyType: String) -> [String] {
        keyType == PublicKey.rsaType ? ["rsa-sha2-512", "rsa-sha2-256"] : [keyType]
    }
}
