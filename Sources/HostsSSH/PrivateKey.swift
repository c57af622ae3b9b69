import CSSH
import HostsModel

/// A private key that can sign; it never leaves the C module.
@safe final class PrivateKey: @unchecked Sendable {
    // Immutable after it was read; libcrypto counts references, and each signature has a context of its own.
    let raw: OpaquePointer

    init(owning raw: OpaquePointer) {
        unsafe self.raw = raw
    }

    deinit { unsafe hosts_key_free(raw) }

    /// Its public half, where it is known.
    var publicPart: PublicKey? {
        var size = 0
        guard let bytes = unsafe hosts_key_public(raw, &size) else { return nil }
        return PublicKey(blob: unsafe Array(UnsafeBufferPointer(start: bytes, count: size)))
    }
}

/// What a key file holds, as far as it concerns a login.
enum KeyFile: Sendable {
    case usable(PrivateKey, PublicKey)
    /// Its passphrase was given to hostsd.
    case unlocked(PrivateKey, PublicKey)
    /// With a passphrase; the public part is in clear text in OpenSSH's format, or beside it in a `.pub`
    /// file.
    case encrypted(PublicKey?)
    /// The file, or the one beside it, holds a public key only: for an agent that has the other half.
    case publicOnly(PublicKey)
    /// Of a kind that only the ssh program can sign with: a hardware key (FIDO).
    case foreign(PublicKey)
    case missing
    case unusable(detail: String)

    /// The public key, where it is known.
    var publicKey: PublicKey? {
        switch self {
        case .usable(_, let key), .unlocked(_, let key), .publicOnly(let key), .foreign(let key): key
        case .encrypted(let key): key
        case .missing, .unusable: nil
        }
    }
}

extension KeyFile {
    /// Reads `path`, and `path.pub` where that helps.
    ///
    /// Blocks on the file system.
    ///
    /// - Parameters:
    ///   - path: Of the private key.
    ///   - unlocked: The keys whose passphrase is known.
    /// - Returns: What it holds.
    static func read(_ path: String, unlocked: UnlockedKeys) -> KeyFile {
        let file = read(path)
        guard case .encrypted = file, let (key, publicKey) = unlocked.key(path) else { return file }
        return .unlocked(key, publicKey)
    }

    /// Reads `path`, and `path.pub` where that helps; a key with a passphrase stays closed.
    ///
    /// Blocks on the file system.
    static func read(_ path: String) -> KeyFile {
        var raw: OpaquePointer?
        let status = unsafe hosts_key_read(path, &raw)
        let key = unsafe raw.map { unsafe PrivateKey(owning: $0) }
        let publicKey = key?.publicPart
        switch status {
        case HOSTS_KEY_OK:
            guard let key, let publicKey else { return .unusable(detail: "it has no public part") }
            return .usable(key, publicKey)
        case HOSTS_KEY_ENCRYPTED: return .encrypted(publicKey ?? publicFile(path + ".pub"))
        case HOSTS_KEY_MISSING:
            guard let publicKey = publicFile(path + ".pub") else { return .missing }
            return .publicOnly(publicKey)
        case HOSTS_KEY_EXPOSED:
            if let publicKey = publicFile(path) { return .publicOnly(publicKey) }
            return .unusable(detail: "others can read it; chmod 600 it")
        case HOSTS_KEY_UNSUPPORTED:
            if let publicKey, publicKey.isFIDO { return .foreign(publicKey) }
            let type = publicKey?.type ?? "of its kind"
            return .unusable(detail: "hostsd cannot sign with a key \(type)")
        case HOSTS_KEY_MALFORMED:
            if let publicKey = publicFile(path) { return .publicOnly(publicKey) }
            return .unusable(detail: "it is no private key that hostsd can read")
        case HOSTS_KEY_UNREADABLE: return .unusable(detail: "it cannot be read")
        default: return .unusable(detail: "there is no memory to read it")
        }
    }

    /// The certificate that belongs to a key file, where there is one.
    ///
    /// Blocks on the file system.
    static func hasCertificate(_ path: String) -> Bool {
        publicFile(path + "-cert.pub")?.isCertificate ?? false
    }

    /// Whether a file holds a certificate (CertificateFile).
    ///
    /// Blocks on the file system.
    static func isCertificate(_ path: String) -> Bool { publicFile(path)?.isCertificate ?? false }

    /// A public key in the one-line format of `.pub` files: type, base64, comment.
    private static func publicFile(_ path: String) -> PublicKey? {
        guard let text = BoundedFile.read(path, limit: 64 * 1024) else { return nil }
        let words = text.prefix { $0 != 0x0a }.split(separator: 0x20)
        guard words.count >= 2, let blob = Base64.decode(words[1]), let key = PublicKey(blob: blob),
            Array(key.type.utf8) == Array(words[0])
        else { return nil }
        return key
    }
}
