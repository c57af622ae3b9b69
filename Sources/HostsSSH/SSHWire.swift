/// Reads the data types of RFC 4251 section 5 out of bytes from elsewhere; nil where they are cut.
struct SSHReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: some Collection<UInt8>) {
        rest = ArraySlice(bytes)
    }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func byte() -> UInt8? { rest.popFirst() }

    mutating func uint32() -> UInt32? {
        guard rest.count >= 4 else { return nil }
        let number = rest.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        rest = rest.dropFirst(4)
        return number
    }

    mutating func bytes(_ count: Int) -> ArraySlice<UInt8>? {
        guard count >= 0, rest.count >= count else { return nil }
        let bytes = rest.prefix(count)
        rest = rest.dropFirst(count)
        return bytes
    }

    mutating func string() -> ArraySlice<UInt8>? {
        guard let count = uint32() else { return nil }
        return bytes(Int(count))
    }

    mutating func text() -> String? {
        string().map { String(decoding: $0, as: UTF8.self) }
    }
}

/// Writes the data types of RFC 4251 section 5.
struct SSHWriter {
    private(set) var bytes: [UInt8] = []

    mutating func byte(_ value: UInt8) { bytes.append(value) }

    mutating func uint32(_ value: UInt32) {
        for shift in [24, 16, 8, 0] as [UInt32] { bytes.append(UInt8(truncatingIfNeeded: value >> shift)) }
    }

    mutating func raw(_ value: some Sequence<UInt8>) { bytes += value }

    mutating func string(_ value: some Collection<UInt8>) {
        uint32(UInt32(value.count))
        bytes += value
    }
}

/// A public key as on the wire (RFC 4253 section 6.6): its type, then what belongs to it.
struct PublicKey: Hashable, Sendable {
    static let rsaType = "ssh-rsa"
    static let rsaSignatureType = "rsa-sha2-512"

    let blob: [UInt8]
    /// For example `ssh-ed25519`; the first string of the blob.
    let type: String

    /// Takes a blob whose type can be read.
    init?(blob: [UInt8]) {
        var reader = SSHReader(blob)
        guard let type = reader.text(), !type.isEmpty else { return nil }
        self.blob = blob
        self.type = type
    }

    /// Whether it is a certificate of OpenSSH's kind (its PROTOCOL.certkeys).
    var isCertificate: Bool { type.hasSuffix("-cert-v01@openssh.com") }

    /// Whether its private half is in a hardware key (OpenSSH's PROTOCOL.u2f).
    var isFIDO: Bool { type.hasPrefix("sk-") }

    /// What `ssh-keygen -l` shows.
    var fingerprint: String { Fingerprint.sha256(of: blob) }

    /// The same RSA key under the name of its SHA-2 signature.
    ///
    /// libssh2 1.10.0 takes the signature algorithm from the blob's type and knows no SHA-2 for RSA.
    /// OpenSSH's server (sshkey.c, sshkey_from_blob) reads a blob of either name as the same key. Other
    /// servers do not.
    var renamedForSHA2: [UInt8]? {
        guard type == Self.rsaType else { return nil }
        var writer = SSHWriter()
        writer.string(Array(Self.rsaSignatureType.utf8))
        writer.raw(blob.dropFirst(4 + Self.rsaType.utf8.count))
        return writer.bytes
    }
}
