import HostsModel

/// The keys that a login will try, in ssh's order, and what is wrong with those that it cannot.
struct Credentials: Sendable {
    /// Most keys that are offered: sshd cuts the connection after six failures (MaxAuthTries).
    static let tryLimit = 6

    /// One key to offer.
    struct Candidate: Sendable {
        /// Who signs.
        enum Signer: Sendable {
            case file(PrivateKey)
            case agent
        }

        let key: PublicKey
        let signer: Signer
        /// For people: where the key comes from.
        let label: String
        /// Whether the person named this very key.
        let isExplicit: Bool
    }

    /// What the agent answered.
    enum Agent: Sendable {
        /// There is none, by configuration.
        case absent
        case identities([AgentIdentity], path: String)
        case failed(path: String, detail: String)
    }

    let candidates: [Candidate]
    /// The most helpful reason why nothing, or nothing else, could be offered; nil when nothing is wrong.
    private let problem: LinkError?
    /// Whether `problem` concerns a key that the person named, and so matters more than a refusal of other
    /// keys.
    private let isProblemExplicit: Bool
    /// Keys that could not be offered, for the message of a refusal.
    private let skipped: [String]
    /// Keys that only the ssh program can use, in words.
    private let foreign: [String]
    private let certificate: String?
    /// The key that ssh would look for, for the message where there is none at all.
    private let usualPath: String

    /// Orders what there is as ssh does (sshconnect2.c, pubkey_prepare, 9.2p1): keys of the agent that an IdentityFile
    /// names, the agent's other keys unless IdentitiesOnly is set, then files that the agent does not hold.
    ///
    /// The agent's keys stand in the agent's order, also those that are named. A key that two files hold is offered
    /// once: servers count.
    ///
    /// - Parameters:
    ///   - files: The destination's identities with what their files hold, in order.
    ///   - agent: What the agent answered.
    ///   - isLimited: IdentitiesOnly.
    ///   - certificates: The identities and files that have, or are, a certificate.
    init(
        files: [(identity: Destination.Identity, file: KeyFile)], agent: Agent, isLimited: Bool,
        certificates: [String] = []
    ) {
        var held: [AgentIdentity] = []
        if case .identities(let identities, _) = agent { held = identities.filter { Self.canSign($0.key) } }
        let named = held.compactMap { held -> Candidate? in
            guard let identity = files.first(where: { $0.file.publicKey == held.key })?.identity else {
                return nil
            }
            return Candidate(
                key: held.key, signer: .agent, label: "\(identity.path) (agent)",
                isExplicit: identity.isExplicit)
        }
        let others = held.filter { identity in !isLimited && !named.contains { $0.key == identity.key } }
            .map { identity in
                let comment = SafeText.visible(identity.comment, limit: 80)
                return Candidate(
                    key: identity.key, signer: .agent, label: "\(comment) (agent)", isExplicit: false)
            }
        let local = files.compactMap { identity, file -> Candidate? in
            let (privateKey, key, label): (PrivateKey, PublicKey, String)
            switch file {
            case .usable(let signer, let publicKey):
                (privateKey, key, label) = (signer, publicKey, identity.path)
            case .unlocked(let signer, let publicKey):
                (privateKey, key, label) = (signer, publicKey, "\(identity.path) (unlocked)")
            case .encrypted, .publicOnly, .foreign, .missing, .unusable: return nil
            }
            guard !held.contains(where: { $0.key == key }) else { return nil }
            return Candidate(
                key: key, signer: .file(privateKey), label: label, isExplicit: identity.isExplicit)
        }
        var seen: Set<PublicKey> = []
        let all = (named + others + local).filter { seen.insert($0.key).inserted }
        candidates = Array(all.prefix(Self.tryLimit))
        let problems = files.compactMap { identity, file in
            Self.problem(identity, file, held: held).map { (error: $0, isExplicit: identity.isExplicit) }
        }
        // A passphrase first, it is the likeliest; then what the person named; a missing default is no
        // problem.
        let first =
            problems.first { if case .keyNeedsPassphrase = $0.error { true } else { false } }
            ?? problems.first { $0.isExplicit }
        problem = first?.error ?? Self.agentProblem(agent) ?? problems.first?.error
        isProblemExplicit = first?.isExplicit ?? false
        let paths = files.map(\.identity.path)
        usualPath = paths.first { $0.hasSuffix("/id_ed25519") } ?? paths.first ?? "~/.ssh/id_ed25519"
        certificate = certificates.first.map { "the key \($0) has a certificate, which libssh2 cannot show" }
        var foreign = files.compactMap { identity, file in
            file.publicKey.flatMap { $0.isFIDO ? "\(identity.path) is a hardware key (FIDO)" : nil }
        }
        if case .identities(let identities, _) = agent, !isLimited {
            foreign += identities.compactMap { identity in
                let comment = SafeText.visible(identity.comment, limit: 80)
                if identity.key.isFIDO { return "agent key \(comment) is a hardware key (FIDO)" }
                return identity.key.isCertificate ? "agent key \(comment) is a certificate" : nil
            }
        }
        self.foreign = foreign
        skipped = all.dropFirst(Self.tryLimit).map {
            "\($0.label) (not tried: \(Self.tryLimit) is the limit)"
        }
    }

    /// Why there is nothing to offer.
    var nothingToOffer: LinkError { problem ?? .keyMissing(path: usualPath) }

    /// Why the ssh program is the better choice from the start: a certificate is what it would show first, or there
    /// is nothing else than keys of its own; nil where libssh2 will do.
    var opensshReason: String? { certificate ?? (candidates.isEmpty ? remainingForOpenSSH : nil) }

    /// Why the ssh program may still get in where all candidates were refused; nil where it has nothing more.
    var remainingForOpenSSH: String? { foreign.first.map { "\($0), which libssh2 cannot use" } }

    /// What to tell when every candidate was refused.
    ///
    /// - Parameters:
    ///   - user: Whom the server did not let in.
    ///   - isLocalUserName: Whether that is the local account's name, as no other is configured.
    ///   - tried: The labels of the candidates, with remarks.
    /// - Returns: The error whose cause the person can remove.
    func refusal(user: String, isLocalUserName: Bool = false, tried: [String]) -> LinkError {
        if case .keyNeedsPassphrase = problem, let problem { return problem }
        // The person named a key that could not be offered, and none that was.
        if isProblemExplicit, let problem, !candidates.contains(where: \.isExplicit) { return problem }
        if !skipped.isEmpty { return .tooManyKeys(user: user, tried: tried + skipped) }
        return isLocalUserName
            ? .userRefused(user: user, tried: tried) : .authenticationRefused(user: user, tried: tried)
    }

    /// FIDO keys and certificates need more than libssh2's callback can carry.
    private static func canSign(_ key: PublicKey) -> Bool {
        MethodPreferences.hostKeys.contains(key.type) || key.type == PublicKey.rsaType
    }

    private static func problem(
        _ identity: Destination.Identity, _ file: KeyFile, held: [AgentIdentity]
    ) -> LinkError? {
        if let detail = identity.problem { return .keyUnusable(path: identity.path, detail: detail) }
        switch file {
        case .usable, .unlocked: return nil
        case .encrypted(let key):
            return held.contains { $0.key == key } ? nil : .keyNeedsPassphrase(path: identity.path)
        case .publicOnly(let key):
            guard !held.contains(where: { $0.key == key }) else { return nil }
            return .keyUnusable(
                path: identity.path, detail: "only its public part is here, and no agent has the other")
        case .foreign(let key):
            return .keyUnusable(path: identity.path, detail: "hostsd cannot sign with a key \(key.type)")
        case .missing: return identity.isExplicit ? .keyMissing(path: identity.path) : nil
        case .unusable(let detail): return .keyUnusable(path: identity.path, detail: detail)
        }
    }

    private static func agentProblem(_ agent: Agent) -> LinkError? {
        switch agent {
        case .absent: nil
        case .identities(let identities, let path): identities.isEmpty ? .agentHasNoKeys(path: path) : nil
        case .failed(let path, let detail): .agentUnavailable(path: path, detail: detail)
        }
    }
}
