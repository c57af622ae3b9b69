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
    /// What was typed, without user and port; nil where ssh does not print it (older than 9.2p1).
    let originalHost: String?
    let user: String
    let port: UInt16
    let identityFiles: [String]
    let identityAgent: String?
    let identitiesOnly: Bool
    /// Filled in by ssh.
    let userKnownHostsFiles: [String]
    /// As ssh uses them: nothing is filled in there.
    let globalKnownHostsFiles: [String]
    let hostKeyAlias: String?
    let hostKeyAlgorithms: [String]
    let connectTimeout: Duration?
    let addressFamily: AddressFamily
    let bindAddress: String?
    let proxyJump: String?
    let proxyCommand: String?
    /// ProxyUseFdpass: the command hands over a descriptor instead of passing bytes on.
    let proxyPassesDescriptor: Bool
    let hostKeyChecking: HostKeyChecking
    let hashesKnownHosts: Bool
    let certificateFiles: [String]
    /// Filled in by ssh.
    let controlPath: String?
    /// What `%C` stands for, where it was asked for by `connectionHashOption`.
    let connectionHash: String?
    /// Whether the name was looked up in DNS to find what it means (CanonicalizeHostname): `ssh -G` does that, and
    /// prints the canonical name and what applies to it.
    let isCanonicalized: Bool
    let hasKnownHostsCommand: Bool
    let hasPKCS11Provider: Bool
    let allowsGSSAPI: Bool
    let allowsPublicKey: Bool

    /// Makes ssh print `%C`: RemoteCommand is filled in by `ssh -G`, and of no use to a link.
    static let connectionHashOption = ["-o", "RemoteCommand=%C"]

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
        originalHost = values["host"]?.first
        self.user = user
        self.port = port
        identityFiles = (values["identityfile"] ?? []).filter { $0 != "none" }
        // "none" is a meaning of its own here: no agent, not the default one.
        identityAgent = values["identityagent"]?.first
        identitiesOnly = value("identitiesonly") == "yes"
        userKnownHostsFiles = Self.paths(value("userknownhostsfile"))
        globalKnownHostsFiles = Self.paths(value("globalknownhostsfile"))
        hostKeyAlias = value("hostkeyalias")
        hostKeyAlgorithms = list("hostkeyalgorithms", ",")
        connectTimeout = value("connecttimeout").flatMap { Int64($0) }.map { .seconds($0) }
        addressFamily = value("addressfamily").flatMap(AddressFamily.init(rawValue:)) ?? .any
        bindAddress = value("bindaddress")
        proxyJump = value("proxyjump")
        proxyCommand = value("proxycommand")
        proxyPassesDescriptor = value("proxyusefdpass") == "yes"
        hostKeyChecking = Self.hostKeyChecking(value("stricthostkeychecking"))
        hashesKnownHosts = value("hashknownhosts") == "yes"
        certificateFiles = (values["certificatefile"] ?? []).filter { $0 != "none" }
        controlPath = value("controlpath")
        connectionHash = value("remotecommand")
        isCanonicalized = !["no", "false"].contains(value("canonicalizehostname") ?? "no")
        hasKnownHostsCommand = value("knownhostscommand") != nil
        hasPKCS11Provider = value("pkcs11provider") != nil
        allowsGSSAPI = value("gssapiauthentication") == "yes"
        allowsPublicKey = !["no", "false"].contains(value("pubkeyauthentication") ?? "")
    }

    /// Takes a list of paths apart.
    ///
    /// ssh prints it without its quotes, so that a path with a space looks like two. A word that begins like
    /// no path is the rest of the one before it; a folder whose name ends with a space is not understood.
    private static func paths(_ text: String?) -> [String] {
        var paths: [String] = []
        for word in (text ?? "").split(separator: " ", omittingEmptySubsequences: false) {
            if let last = paths.last, !word.hasPrefix("/"), !word.hasPrefix("~") {
                paths[paths.count - 1] = last + " " + word
            } else {
                paths.append(String(word))
            }
        }
        return paths.filter { !$0.isEmpty }
    }

    /// Accounts whose home directories must be known to fill in paths.
    var namedAccounts: Set<String> {
        Set((identityFiles + certificateFiles).compactMap(TokenExpansion.account(in:)))
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
