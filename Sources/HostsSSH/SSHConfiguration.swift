import HostsModel

/// What `ssh -G DESTINATION` printed (ssh(1)): one keyword and its value per line, defaults included.
struct SSHConfiguration: Hashable, Sendable {
    /// Which kinds of addresses are used.
    enum AddressFamily: String, Hashable, Sendable {
        case any, inet, inet6
    }

    /// StrictHostKeyChecking.
    enum HostKeyChecking: String, Hashable, Sendable {
        case ask
        case yes = "true"
        case acceptNew = "accept-new"
        case off = "false"
    }

    let hostName: String
    let user: String
    let port: UInt16
    let identityFiles: [String]
    let identityAgent: String?
    let identitiesOnly: Bool
    let userKnownHostsFiles: [String]
    let globalKnownHostsFiles: [String]
    let hostKeyAlias: String?
    let hostKeyAlgorithms: [String]
    let connectTimeout: Duration?
    let addressFamily: AddressFamily
    let bindAddress: String?
    let proxyJump: String?
    let proxyCommand: String?
    let hostKeyChecking: HostKeyChecking
    let hashesKnownHosts: Bool
    let certificateFiles: [String]
    let controlPath: String?
    let hasKnownHostsCommand: Bool
    let hasPKCS11Provider: Bool
    let allowsGSSAPI: Bool
    let allowsPublicKey: Bool

    /// Reads the output; nil when it names no host, user or port, and so is none of ssh's.
    init?(output: String) {
        var values: [String: [String]] = [:]
        for line in output.split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 1)
            guard words.count == 2 else { continue }
            values[words[0].lowercased(), default: []].append(String(words[1]))
        }
        func value(_ keyword: String) -> String? {
            guard let text = values[keyword]?.first, text != "none" else { return nil }
            return text
        }
        func list(_ keyword: String, _ separator: Character) -> [String] {
            (value(keyword) ?? "").split(separator: separator).map(String.init)
        }
        guard let hostName = value("hostname"), let user = values["user"]?.first,
            let port = value("port").flatMap({ UInt16($0) })
        else { return nil }
        self.hostName = hostName
        self.user = user
        self.port = port
        identityFiles = (values["identityfile"] ?? []).filter { $0 != "none" }
        // "none" is a meaning of its own here: no agent, not the default one.
        identityAgent = values["identityagent"]?.first
        identitiesOnly = value("identitiesonly") == "yes"
        userKnownHostsFiles = list("userknownhostsfile", " ")
        globalKnownHostsFiles = list("globalknownhostsfile", " ")
        hostKeyAlias = value("hostkeyalias")
        hostKeyAlgorithms = list("hostkeyalgorithms", ",")
        connectTimeout = value("connecttimeout").flatMap { Int64($0) }.map { .seconds($0) }
        addressFamily = value("addressfamily").flatMap(AddressFamily.init(rawValue:)) ?? .any
        bindAddress = value("bindaddress")
        proxyJump = value("proxyjump")
        proxyCommand = value("proxycommand")
        hostKeyChecking = Self.hostKeyChecking(value("stricthostkeychecking"))
        hashesKnownHosts = value("hashknownhosts") == "yes"
        certificateFiles = (values["certificatefile"] ?? []).filter { $0 != "none" }
        controlPath = value("controlpath")
        hasKnownHostsCommand = value("knownhostscommand") != nil
        hasPKCS11Provider = value("pkcs11provider") != nil
        allowsGSSAPI = value("gssapiauthentication") == "yes"
        allowsPublicKey = !["no", "false"].contains(value("pubkeyauthentication") ?? "")
    }

    /// `ssh -G` prints `true` and `false` for `yes` and `no` (9.2p1); older and newer ones may not.
    private static func hostKeyChecking(_ text: String?) -> HostKeyChecking {
        switch text {
        case "yes": .yes
        case "no", "off": .off
        default: text.flatMap(HostKeyChecking.init(rawValue:)) ?? .ask
        }
    }
}
