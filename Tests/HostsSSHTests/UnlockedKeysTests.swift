import CSSH
import HostsModel
import HostsTestSupport
import Testing

@testable import HostsSSH

@Suite struct UnlockedKeysTests {
    struct Kind: Sendable, CustomTestStringConvertible {
        let arguments: [String]
        var testDescription: String { arguments.joined(separator: " ") }
    }

    static let kinds: [Kind] = {
        let types = [
            ["-t", "ed25519"], ["-t", "ecdsa", "-b", "256"], ["-t", "ecdsa", "-b", "384"],
            ["-t", "ecdsa", "-b", "521"], ["-t", "rsa", "-b", "3072"],
        ]
        let ciphers = [
            "aes128-ctr", "aes192-ctr", "aes256-ctr", "aes256-cbc", "aes256-gcm@openssh.com",
            "aes128-gcm@openssh.com", "chacha20-poly1305@openssh.com", "aes192-cbc", "3des-cbc",
        ]
        let formats = [["-m", "PEM"], ["-m", "PKCS8"]]
        return types.map { Kind(arguments: $0 + ["-a", "2"]) }
            + ciphers.map { Kind(arguments: ["-t", "ed25519", "-a", "2", "-Z", $0]) }
            + types.dropFirst().flatMap { type in formats.map { Kind(arguments: type + $0) } }
    }()

    @Test(arguments: kinds)
    func `a passphrase opens its key, and no other does`(kind: Kind) async throws {
        let server = try await LocalSSHD()
        let path = server.folder.path("locked")
        try await Tool.run("ssh-keygen", ["-q", "-N", "open sesame", "-f", path] + kind.arguments)
        try server.folder.write("authorized_keys", try server.folder.read("locked.pub"))
        try server.writeConfig(identityFiles: [path])
        let factory = LinkFixture.factory(config: server.configFile)
        #expect(await factory.failure(of: server.record) == .keyNeedsPassphrase(path: path))
        for wrong in ["open", "", "open sesame "] {
            let error = await #expect(throws: HostAccessError.self) {
                try await factory.unlock(server.record, passphrase: Array(wrong.utf8))
            }
            #expect(error == .wrongPassphrase(paths: [path]))
        }
        let opened = try await factory.unlock(server.record, passphrase: Array("open sesame".utf8))
        #expect(opened == [path])
        let link = try await factory.connect(to: server.record, token: 1)
        #expect(link.summary.detail.hasSuffix("key \(path) (unlocked)"))
        link.close(.daemonStopping)
        // It is open already.
        let error = await #expect(throws: HostAccessError.self) {
            try await factory.unlock(server.record, passphrase: Array("open sesame".utf8))
        }
        #expect(error == .nothingLocked)
    }

    @Test func `a key file that was changed is closed again`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("key")
        try await Tool.makeKey(path, passphrase: "one")
        let keys = UnlockedKeys()
        #expect(keys.unlock(path, passphrase: Array("one".utf8)) == .opened)
        #expect(keys.key(path) != nil)
        try folder.remove("key")
        try folder.remove("key.pub")
        try await Tool.makeKey(path, passphrase: "two")
        #expect(keys.key(path) == nil)
        #expect(keys.unlock(path, passphrase: Array("one".utf8)) == .wrongPassphrase)
    }

    @Test func `what needs no passphrase is not locked`() async throws {
        let folder = try TemporaryFolder()
        try await Tool.makeKey(folder.path("key"))
        try folder.write("text", "hello\n")
        let keys = UnlockedKeys()
        for name in ["key", "text", "missing"] {
            #expect(keys.unlock(folder.path(name), passphrase: Array("one".utf8)) == .notLocked)
        }
    }

    /// Keys that were made for these tests and open nothing: Ed25519 in PKCS #8, which ssh-keygen does not write.
    private static let plain = """
        -----BEGIN PRIVATE KEY-----
        MC4CAQAwBQYDK2VwBCIEIIiH4YhwJW4whI0e4EcJbhUh566OggBcbug4hzCY9M/W
        -----END PRIVATE KEY-----

        """
    private static let encrypted = """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIGbMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAjXXuKSYMas8AICCAAw
        DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEA6XPog3Ki9u5rjCYCgi/24EQGca
        YUH3FnEfI3nkrsq5r3GG4hnrfgl8WqbiExwn+dl8B+bDMLRmDUwqg7c7seV34P8N
        UDzXHE5hOaNOld1oOOc=
        -----END ENCRYPTED PRIVATE KEY-----

        """
    /// The same with 20,000,000 iterations, in the schemes of PKCS #5 versions 2 and 1 (RFC 8018).
    private static let costly = [
        """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIGdMFkGCSqGSIb3DQEFDTBMMCsGCSqGSIb3DQEFDDAeBAhKWfqLGpyTSwIEATEt
        ADAMBggqhkiG9w0CCQUAMB0GCWCGSAFlAwQBKgQQhkSH0fUVVJSDxE18aXCfTQRA
        ONah70HMi0+YmI68e9/YciesNmIJbMIIHo0EauTBszbifQ3kll3mkuAJUIxVUnpF
        aKpBdX7A9zMfZQLAA8ARPg==
        -----END ENCRYPTED PRIVATE KEY-----

        """,
        """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MFowHgYKKoZIhvcNAQwBAzAQBAjUu1+FV7k5VAIEATEtAAQ4VovMnl3uE5OmnDWE
        at6xK8KqPzATPOiUDLjQvY+ULXT3NRArRU/G+GcIbzh6PteI6bM5Xz/iKso=
        -----END ENCRYPTED PRIVATE KEY-----

        """,
    ]

    @Test func `an Ed25519 key in PKCS #8 is read, and opened`() throws {
        let folder = try TemporaryFolder()
        guard case .usable(_, let key) = KeyFile.read(try folder.write("plain", Self.plain)) else {
            Issue.record("it is not usable")
            return
        }
        let path = try folder.write("encrypted", Self.encrypted)
        let keys = UnlockedKeys()
        #expect(keys.unlock(path, passphrase: Array("open".utf8)) == .wrongPassphrase)
        #expect(keys.unlock(path, passphrase: Array("open sesame".utf8)) == .opened)
        #expect(keys.key(path)?.1 == key)
    }

    @Test(arguments: costly)
    func `a PKCS #8 key that asks for minutes of work is refused`(text: String) throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("key", text)
        guard case .failed(let detail) = UnlockedKeys().unlock(path, passphrase: Array("x".utf8)) else {
            Issue.record("it was tried")
            return
        }
        #expect(detail.contains("too costly"))
    }

    /// The bytes of a key in OpenSSH's format, and the file of such bytes.
    private func container(_ text: String) throws -> [UInt8] {
        let lines = text.split(separator: "\n").dropFirst().dropLast()
        return try #require(Base64.decode(Array(lines.joined().utf8)))
    }

    private func armoured(_ bytes: [UInt8]) -> String {
        "-----BEGIN OPENSSH PRIVATE KEY-----\n\(Base64Writer.text(bytes))\n-----END OPENSSH PRIVATE KEY-----\n"
    }

    @Test(arguments: ["aes256-ctr", "aes256-gcm@openssh.com", "chacha20-poly1305@openssh.com"])
    func `every prefix of a locked key, and every damage to it, is refused without a trap`(
        cipher: String
    ) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("key")
        try await Tool.run(
            "ssh-keygen", ["-q", "-t", "ed25519", "-N", "one", "-a", "1", "-Z", cipher, "-f", path])
        let whole = try container(try folder.read("key"))
        let keys = UnlockedKeys()
        for count in 0..<whole.count {
            try folder.write("key", armoured(Array(whole.prefix(count))))
            #expect(keys.unlock(path, passphrase: Array("one".utf8)) != .opened)
        }
        let hasTag = cipher.contains("@")
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<60 {
            var bytes = whole
            bytes[Int.random(in: 0..<bytes.count, using: &generator)] ^=
                UInt8(1) << UInt8.random(in: 0..<8, using: &generator)
            try folder.write("key", armoured(bytes))
            let outcome = keys.unlock(path, passphrase: Array("one".utf8))
            // Without a tag, damage to the comment or the padding at the end is not seen.
            if hasTag { #expect(outcome != .opened) }
        }
        try folder.write("key", armoured(whole))
        #expect(keys.unlock(path, passphrase: Array("one".utf8)) == .opened)
    }

    @Test func `a file whose two halves are of different keys is refused`() throws {
        var bytes = try container(PrivateKeyTests.ed25519)
        let name = Array("ssh-ed25519".utf8)
        let start = try #require(bytes.indices.first { bytes[$0...].starts(with: name) })
        bytes[start + name.count + 4] ^= 1
        let text = Array(armoured(bytes).utf8)
        var key: OpaquePointer?
        #expect(hosts_key_parse(text, text.count, &key) == HOSTS_KEY_MALFORMED)
        hosts_key_free(key)
    }

    @Test func `a file that asks for hours of work is refused`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("key")
        try await Tool.makeKey(path, passphrase: "one")
        let lines = try folder.read("key").split(separator: "\n").map(String.init)
        var bytes = try #require(Base64.decode(Array(lines[1..<(lines.count - 1)].joined().utf8)[...]))
        // openssh-key-v1, NUL, then cipher, kdf, options: salt and rounds.
        let salt =
            try #require(bytes.indices.first { bytes[$0...].starts(with: Array("bcrypt".utf8)) }) + 6 + 4
        let size = Int(bytes[salt + 3])
        for index in 0..<4 { bytes[salt + 4 + size + index] = 0xff }
        let text = Base64Writer.text(bytes)
        try folder.write("key", "\(lines[0])\n\(text)\n\(lines[lines.count - 1])\n")
        guard case .failed(let detail) = UnlockedKeys().unlock(path, passphrase: Array("one".utf8)) else {
            Issue.record("it was tried")
            return
        }
        #expect(detail.contains("too costly"))
    }
}

/// Base64 in one line.
private enum Base64Writer {
    static func text(_ bytes: [UInt8]) -> String {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
        var result = ""
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let part = bytes[start..<min(start + 3, bytes.count)]
            var word = part.reduce(0) { $0 << 8 | Int($1) }
            word <<= 8 * (3 - part.count)
            for place in 0..<4 {
                result.append(place <= part.count ? digits[word >> (18 - 6 * place) & 63] : "=")
            }
        }
        return result
    }
}
