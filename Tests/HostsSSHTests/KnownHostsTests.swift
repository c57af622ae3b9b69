import HostsModel
import Testing

@testable import HostsSSH

struct KnownHostsTests {
    static let ed = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl"
    static let otherEd = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f"
    static let ecdsa = """
        ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBEmKSENjQEezOmxkZMy7opKgwFB9nkt5\
        YRrYMjNuG5N87uRgg6CLrbo5wAdT/y6v0mKV0U2w0WZ2YB/++Tpockg=
        """

    private func key(_ text: String) throws -> PublicKey {
        let blob = try #require(Base64.decode(text.split(separator: " ")[1].utf8))
        return try #require(PublicKey(blob: blob))
    }

    private func verdict(_ text: String, name: String = "host.example") throws -> KnownHosts.Verdict {
        let file = KnownHosts.File(path: "file", text: Array(text.utf8))
        return KnownHosts(matching: name, in: [file]).verdict(on: try key(Self.ed))
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let hosts: String
        let name: String
        let isKnown: Bool

        init(_ description: String, _ hosts: String, name: String = "host.example", _ isKnown: Bool) {
            testDescription = description
            self.hosts = hosts
            self.name = name
            self.isKnown = isKnown
        }
    }

    @Test(arguments: [
        Case("its name", "host.example", true),
        Case("another name", "host.example.org", false),
        Case("the end of a name", "example", false),
        Case("a list", "other,host.example,192.0.2.1", true),
        Case("capital letters in the file", "HOST.Example", true),
        Case("a star for all", "*", true),
        Case("a star at the beginning", "*.example", true),
        Case("a star in the middle", "h*e", true),
        Case("stars side by side", "h**st.*", true),
        Case("a star that matches nothing", "host.example*", true),
        Case("a question mark", "hos?.example", true),
        Case("a question mark for nothing", "host.example?", false),
        Case("a negation after a match", "*.example,!host.example", false),
        Case("a negation before a match", "!host.example,*.example", false),
        Case("a negation of another name", "!other.example,*.example", true),
        Case("only a negation of another name", "!other.example", false),
        Case("a port", "[host.example]:2222", name: "[host.example]:2222", true),
        Case("another port", "[host.example]:2223", name: "[host.example]:2222", false),
        Case("brackets are no character class", "[h]ost.example", false),
        Case("a name of two letters", "ab", name: "ab", true),
        Case("a hashed name", "|1|AAECAwQFBgcICQoLDA0ODxAREhM=|IZ1zV0swCfFUvwvqRtiJbYJ0/LA=", true),
        Case(
            "another hashed name", "|1|AAECAwQFBgcICQoLDA0ODxAREhM=|IZ1zV0swCfFUvwvqRtiJbYJ0/LA=",
            name: "host.exampl", false),
        Case("a hash that is cut", "|1|AAECAwQFBgcICQoLDA0ODxAREhM=", false),
    ])
    func `names match as sshd(8) says`(c: Case) throws {
        #expect(
            try verdict("\(c.hosts) \(Self.ed) a comment\n", name: c.name) == (c.isKnown ? .known : .unknown))
    }

    @Test func `lines that are none are skipped one by one`() throws {
        let long = "host.example ssh-ed25519 " + String(repeating: "A", count: KnownHosts.lineLimit)
        let text = """
            # a comment

            host.example
            host.example ssh-ed25519
            host.example ssh-ed25519 not*base64
            host.example ssh-rsa \(Self.ed.split(separator: " ")[1])
            @unknown host.example \(Self.ed)
            \(long)
            \t host.example\t\(Self.ed)\r
            """
        #expect(try verdict(text) == .known)
        #expect(try verdict(text.replacing("\t host.example\t", with: "\t other\t")) == .unknown)
    }

    @Test func `a key of the same type that differs is a change, of another type it is told apart`() throws {
        let expected = try key(Self.otherEd)
        #expect(try verdict("host.example \(Self.otherEd)\n") == .changed(expected: expected, file: "file"))
        #expect(
            try verdict("host.example \(Self.ecdsa)\n")
                == .otherType(expected: try key(Self.ecdsa), file: "file"))
        #expect(try verdict("host.example \(Self.otherEd)\nhost.example \(Self.ed)\n") == .known)
    }

    @Test func `a revocation counts before and after, an authority is not a mismatch`() throws {
        #expect(try verdict("host.example \(Self.ed)\n@revoked host.example \(Self.ed)\n") == .revoked)
        #expect(try verdict("@revoked * \(Self.ed)\nhost.example \(Self.ed)\n") == .revoked)
        #expect(try verdict("@revoked host.example \(Self.otherEd)\nhost.example \(Self.ed)\n") == .known)
        #expect(
            try verdict("\n@cert-authority *.example \(Self.otherEd)\n")
                == .certificateAuthority(file: "file", line: 2))
        // A revoked key is none that is known, so it does not choose the algorithm either.
        let file = KnownHosts.File(
            path: "f", text: Array("@revoked * \(Self.ed)\nhost.example \(Self.ecdsa)".utf8))
        #expect(KnownHosts(matching: "host.example", in: [file]).keyTypes == ["ecdsa-sha2-nistp256"])
    }

    @Test func `every prefix of a file is read without a trap and never trusts another key`() throws {
        let text = Array("x,*.example \(Self.otherEd)\n|1|AAEC|AAEC \(Self.ed)\n@revoked * \(Self.ed)\n".utf8)
        for count in 0...text.count {
            let file = KnownHosts.File(path: "f", text: Array(text.prefix(count)))
            let known = KnownHosts(matching: "host.example", in: [file])
            #expect(known.verdict(on: try key(Self.ed)) != .known)
        }
    }

    @Test(arguments: [
        SSHConfiguration.HostKeyChecking.ask, .yes, .acceptNew, .off,
    ])
    func `a key of another type is a change, as to ssh, unless its own could not be asked for`(
        checking: SSHConfiguration.HostKeyChecking
    ) throws {
        func outcome(_ text: String) throws -> String {
            let trust = HostTrust(
                files: [KnownHosts.File(path: "f", text: Array(text.utf8))], name: "host.example",
                portlessName: nil, checking: checking)
            do {
                switch try trust.judge(try key(Self.ed)) {
                case .known: return "known"
                case .add: return "add"
                case .letThrough: return "let through"
                }
            } catch let error as LinkError {
                return error.code
            }
        }
        let known = "host.example \(Self.ecdsa)\n"
        #expect(try outcome(known) == (checking == .off ? "let through" : "ssh.hostkey.changed"))
        #expect(try outcome("@revoked * \(Self.ed)\n" + known) == "ssh.hostkey.revoked")
        let isAdded = checking == .off || checking == .acceptNew
        #expect(try outcome("other \(Self.ecdsa)\n") == (isAdded ? "add" : "ssh.hostkey.unknown"))
        guard !MethodPreferences.canAsk(for: "ssh-rsa") else { return }
        var blob = SSHWriter()
        blob.string(Array("ssh-rsa".utf8))
        let rsa = "host.example ssh-rsa \(Base64.encodeWithoutPadding(blob.bytes))\n"
        #expect(try outcome(rsa) == "link.needs-openssh")
        #expect(try outcome(known + rsa) == "link.needs-openssh")
    }

    @Test(arguments: ["ssh-rsa", "rsa-sha2-256", "rsa-sha2-512", "ssh-ed25519", "rsa"])
    func `an RSA key may stand under the name of a signature`(name: String) throws {
        var blob = SSHWriter()
        blob.string(Array("ssh-rsa".utf8))
        let line = "host.example \(name) \(Base64.encodeWithoutPadding(blob.bytes))\n"
        let file = KnownHosts.File(path: "f", text: Array(line.utf8))
        #expect(
            KnownHosts(matching: "host.example", in: [file]).keyTypes
                == (name.contains("rsa-") || name == "ssh-rsa" ? ["ssh-rsa"] : []))
    }

    @Test func `a match without the port counts, a mismatch there is unknown`() throws {
        func check(_ text: String) throws -> String? {
            let trust = HostTrust(
                files: [KnownHosts.File(path: "f", text: Array(text.utf8))], name: "[host.example]:2222",
                portlessName: "host.example")
            do {
                _ = try trust.judge(try key(Self.ed))
                return nil
            } catch let error as LinkError {
                return error.code
            }
        }
        #expect(try check("host.example \(Self.ed)\n") == nil)
        #expect(try check("host.example \(Self.otherEd)\n") == "ssh.hostkey.unknown")
        #expect(
            try check("[host.example]:2222 \(Self.otherEd)\nhost.example \(Self.ed)\n")
                == "ssh.hostkey.changed")
        #expect(try check("@revoked host.example \(Self.ed)\n") == "ssh.hostkey.revoked")
        #expect(try check("@cert-authority [host.example]:* \(Self.otherEd)\n") == "link.needs-openssh")
    }
}
