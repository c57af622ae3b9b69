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
            "aes128-gcm@openssh.com",
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
