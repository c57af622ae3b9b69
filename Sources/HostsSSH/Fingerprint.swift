import CSSH

/// The digests that SSH clients show and store.
enum Fingerprint {
    /// `SHA256:` and base64 without padding, as every OpenSSH tool prints it.
    static func sha256(of blob: [UInt8]) -> String {
        var digest = [UInt8](repeating: 0, count: Int(HOSTS_SHA256_SIZE))
        guard unsafe hosts_sha256(blob, blob.count, &digest) == 0 else { return "SHA256:?" }
        return "SHA256:" + Base64.encodeWithoutPadding(digest)
    }

    /// The digest of a hashed name in known_hosts, or nil when libcrypto refuses (a FIPS policy).
    static func hmacSHA1(key: [UInt8], text: [UInt8]) -> [UInt8]? {
        var digest = [UInt8](repeating: 0, count: Int(HOSTS_SHA1_SIZE))
        guard unsafe hosts_hmac_sha1(key, key.count, text, text.count, &digest) == 0 else { return nil }
        return digest
    }
}
