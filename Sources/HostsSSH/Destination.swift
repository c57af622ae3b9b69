import HostsModel

/// Where and as whom to log in, and what to trust: a host's ssh_config, made ready for use.
struct Destination: Hashable, Sendable {
    /// A key that ssh would try.
    struct Identity: Hashable, Sendable {
        let path: String
        /// Named by the person, not one of ssh's defaults; a missing default is no trouble.
        let isExplicit: Bool
        /// Why the path could not be made out.
        let problem: String?
    }

    /// How its port is reached.
    enum Route: Hashable, Sendable {
        case direct
        /// Through these hosts one after another, as ProxyJump names them: `[user@]host[:port]`.
        case jump([String])
        /// Through the standard input and output of a command, its tokens filled in.
        case command(String)
    }

    /// Which ssh-agent is asked (IdentityAgent).
    enum Agent: Hashable, Sendable {
        case none
        case socket(String)
        /// The one of the person's session, wherever that is at the moment.
        case usual
    }

    /// Names of ssh's own default keys, in `~/.ssh`.
    private static let defaultKeyNames = [
        "id_rsa", "id_ecdsa", "id_ecdsa_sk", "id_ed25519", "id_ed25519_sk", "id_xmss", "id_dsa",
    ]

    /// What the person typed after `ssh`.
    let name: String
    let host: String
    let port: UInt16
    let user: String
    let identities: [Identity]
    let isLimitedToIdentities: Bool
    let agent: Agent
    let knownHostsFiles: [String]
    /// The first of the person's own; nil where UserKnownHostsFile is none.
    let ownKnownHostsFile: String?
    /// The name in known_hosts: HostKeyAlias, or host and port.
    let knownHostsName: String
    /// The name without port, which ssh takes a matching key from, too.
    let portlessName: String?
    let hostKeyAlgorithms: [String]
    let connectTimeout: Duration?
    let addressFamily: SSHConfiguration.AddressFamily
    let bindAddress: String?
    let route: Route
    let hostKeyChecking: SSHConfiguration.HostKeyChecking
    let hashesKnownHosts: Bool
    /// CertificateFile, filled in.
    let certificateFiles: [String]
    /// The socket of a connection that the person's own ssh may share (ControlPath).
    let controlPath: String?
    /// Whether the user's name is that of the local account, as it is where ssh_config names none.
    let hasLocalUserName: Bool
    /// Why only the ssh program can serve it, where its configuration says so.
    let needsOpenSSH: String?
    let allowsGSSAPI: Bool

    /// Makes a destination out of what `ssh -G` says.
    ///
    /// - Parameters:
    ///   - name: As it was typed.
    ///   - configuration: What ssh says about it.
    ///   - settings: The environment and the agent.
    ///   - homes: The home directories of `configuration.namedAccounts`.
    /// - Throws: `.resolutionFailed` for a value that cannot be filled in.
    init(
        name: String, configuration: SSHConfiguration, settings: LinkSettings, homes: [String: String] = [:]
    ) throws(LinkError) {
        var expansion = TokenExpansion(
            homeDirectory: settings.homeDirectory, homes: homes,
            localUser: settings.environment["USER"] ?? configuration.user,
            remoteHost: configuration.hostName,
            originalHost: configuration.originalHost ?? Self.hostPart(name), port: configuration.port,
            remoteUser: configuration.user, hostKeyAlias: configuration.hostKeyAlias,
            connectionHash: configuration.connectionHash, environment: settings.environment)
        route = try Self.route(name, configuration, expansion)
        if case .jump(let hops) = route, let last = hops.last.flatMap(JumpHop.init) {
            expansion.jumpHost = last.host
        }
        self.name = name
        host = configuration.hostName
        port = configuration.port
        user = configuration.user
        identities = configuration.identityFiles.map { Self.identity($0, expansion) }
        isLimitedToIdentities = configuration.identitiesOnly
        agent = try Self.agent(configuration.identityAgent, settings)
        ownKnownHostsFile = configuration.userKnownHostsFiles.first
        knownHostsFiles = configuration.userKnownHostsFiles + configuration.globalKnownHostsFiles
        let lowerHost = configuration.hostName.lowercased()
        if let alias = configuration.hostKeyAlias {
            // Literally: ssh knows no tokens there (9.2p1).
            knownHostsName = alias.lowercased()
            portlessName = nil
        } else {
            knownHostsName = configuration.port == 22 ? lowerHost : "[\(lowerHost)]:\(configuration.port)"
            portlessName = configuration.port == 22 ? nil : lowerHost
        }
        hostKeyAlgorithms = configuration.hostKeyAlgorithms
        connectTimeout = configuration.connectTimeout
        addressFamily = configuration.addressFamily
        bindAddress = configuration.bindAddress
        hostKeyChecking = configuration.hostKeyChecking
        hashesKnownHosts = configuration.hashesKnownHosts
        let certificates = expansion
        certificateFiles = configuration.certificateFiles.map { file in
            do { return try certificates.path(file) } catch { return file }
        }
        controlPath = configuration.controlPath
        hasLocalUserName = configuration.user == settings.environment["USER"] && !name.contains("@")
        needsOpenSSH =
            if configuration.hasPKCS11Provider {
                "its keys are in a PKCS#11 provider"
            } else if configuration.hasKnownHostsCommand {
                "its host key comes from a KnownHostsCommand"
            } else if case .command = route, configuration.proxyPassesDescriptor {
                "its ProxyCommand hands over a descriptor (ProxyUseFdpass)"
            } else { nil }
        allowsGSSAPI = configuration.allowsGSSAPI
    }

    /// For people, such as `dev@127.0.0.1:2201`.
    var address: String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    private static func route(
        _ name: String, _ configuration: SSHConfiguration, _ expansion: TokenExpansion
    ) throws(LinkError) -> Route {
        if let jump = configuration.proxyJump {
            var hops: [String] = []
            for hop in jump.split(separator: ",") {
                do { hops.append(try expansion.proxy(String(hop))) } catch {
                    throw .resolutionFailed(destination: name, detail: "ProxyJump: \(error.detail)")
                }
            }
            return .jump(hops)
        }
        guard let command = configuration.proxyCommand else { return .direct }
        do { return .command(try expansion.proxy(command)) } catch {
            throw .resolutionFailed(destination: name, detail: "ProxyCommand: \(error.detail)")
        }
    }

    /// The host in `user@host` or `ssh://user@host:port`, which `%n` stands for.
    private static func hostPart(_ name: String) -> String {
        let scheme = "ssh://"
        let rest = name.hasPrefix(scheme) ? name.dropFirst(scheme.count) : name[...]
        let host = rest.split(separator: "@", omittingEmptySubsequences: false).last ?? rest
        guard name.hasPrefix(scheme), let colon = host.lastIndex(of: ":") else { return String(host) }
        return String(host[..<colon])
    }

    private static func identity(_ text: String, _ expansion: TokenExpansion) -> Identity {
        let isExplicit = !defaultKeyNames.contains { text == "~/.ssh/\($0)" }
        do {
            return Identity(path: try expansion.path(text), isExplicit: isExplicit, problem: nil)
        } catch {
            return Identity(path: text, isExplicit: isExplicit, problem: error.detail)
        }
    }

    private static func agent(
        _ configured: String?, _ settings: LinkSettings
    ) throws(LinkError) -> Agent {
        switch configured {
        case nil, "SSH_AUTH_SOCK": return .usual
        case "none": return .none
        case .some(let text) where text.hasPrefix("$") && !text.hasPrefix("${"):
            guard let path = settings.environment[String(text.dropFirst())] else {
                throw .agentUnavailable(path: text, detail: "the variable is not set")
            }
            return .socket(path)
        // ssh has filled it in.
        case .some(let text): return .socket(text)
        }
    }
}
