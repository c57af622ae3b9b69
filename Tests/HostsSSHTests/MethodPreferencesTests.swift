import Testing

@testable import HostsSSH

struct MethodPreferencesTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let known: [String]
        var configured: [String]?
        let first: String
        let hasOldRSA: Bool
    }

    @Test(arguments: [
        Case(testDescription: "nothing known", known: [], first: "ssh-ed25519", hasOldRSA: false),
        Case(
            testDescription: "an ECDSA key known", known: ["ecdsa-sha2-nistp384"],
            first: "ecdsa-sha2-nistp384",
            hasOldRSA: false),
        Case(
            testDescription: "only an RSA key known", known: ["ssh-rsa"], first: "rsa-sha2-512",
            hasOldRSA: true),
        Case(
            testDescription: "an RSA key among others", known: ["ssh-rsa", "ssh-ed25519"],
            first: "rsa-sha2-512",
            hasOldRSA: false),
        Case(
            testDescription: "an unknown type known", known: ["ssh-dss", "x"], first: "ssh-ed25519",
            hasOldRSA: false),
        Case(
            testDescription: "restricted by ssh_config", known: ["ssh-ed25519"],
            configured: ["ecdsa-sha2-nistp256", "sk-x"], first: "ecdsa-sha2-nistp256", hasOldRSA: false),
        Case(
            testDescription: "restricted to what is not ours", known: [], configured: ["sk-x"],
            first: "ssh-ed25519", hasOldRSA: false),
    ])
    func `the types that are known come first`(c: Case) {
        let order = MethodPreferences(knownTypes: c.known, configured: c.configured).hostKeyOrder
        #expect(order.first == c.first)
        #expect(order.contains("ssh-rsa") == c.hasOldRSA)
        #expect(Set(order).count == order.count)
    }
}
