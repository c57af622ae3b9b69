import HostsModel

/// What the person's known_hosts files say about one destination, and what follows for the key that it shows.
struct HostTrust: Sendable {
    /// What follows for a key that is not refused.
    enum Judgement: Hashable, Sendable {
        case known
        /// It is new, and ssh_config says to take it (StrictHostKeyChecking accept-new, or no).
        case add
        /// It is not the one that is known, and ssh_config says not to mind (StrictHostKeyChecking no).
        case letThrough(warning: String)
    }

    private let known: KnownHosts
    /// What the files say about the host on port 22; ssh takes a match from there, and nothing else.
    private let portless: KnownHosts?
    private let name: String
    private let checking: SSHConfiguration.HostKeyChecking
    /// Where a new key is written.
    let file: String

    /// Reads the files.
    ///
    /// Blocks on the file system; a file that is not there holds nothing.
    init(destination: Destination) {
        let files = destination.knownHostsFiles.compactMap { path in
            BoundedFile.read(path, limit: KnownHosts.fileLimit).map { KnownHosts.File(path: path, text: $0) }
        }
        self.init(
            files: files, name: destination.knownHostsName, portlessName: destination.portlessName,
            checking: destination.hostKeyChecking, file: destination.ownKnownHostsFile ?? "")
    }

    init(
        files: [KnownHosts.File], name: String, portlessName: String?,
        checking: SSHConfiguration.HostKeyChecking = .ask, file: String = ""
    ) {
        self.checking = checking
        self.file = file
        known = KnownHosts(matching: name, in: files)
        portless = portlessName.map { KnownHosts(matching: $0, in: files) }
        self.name = name
    }

    /// The key types to ask the server for first.
    var keyTypes: [String] {
        known.keyTypes.isEmpty ? portless?.keyTypes ?? [] : known.keyTypes
    }

    /// Judges the key that the server has proven to hold.
    ///
    /// A revoked key is refused whatever ssh_config says.
    ///
    /// - Parameter key: As the server showed it.
    /// - Returns: What follows.
    /// - Throws: Unless the key will do; nothing more is then said to the server.
    func judge(_ key: PublicKey) throws(LinkError) -> Judgement {
        do {
            try check(key)
            return .known
        } catch .hostKeyUnknown where checking == .acceptNew || checking == .off {
            return .add
        } catch {
            guard case .hostKeyChanged = error, checking == .off else { throw error }
            return .letThrough(warning: "\(error.message); StrictHostKeyChecking is off")
        }
    }

    /// What a person is asked about the key.
    func offer(for key: PublicKey) -> HostKeyOffer {
        let verdict: HostKeyOffer.Verdict
        do {
            try check(key)
            verdict = .known
        } catch .hostKeyChanged(_, let expected, _, let file) {
            verdict = .changed(expected: expected, file: file)
        } catch .hostKeyRevoked {
            verdict = .revoked
        } catch {
            verdict = .unknown
        }
        return HostKeyOffer(
            host: name, type: key.type, fingerprint: key.fingerprint, verdict: verdict, file: file)
    }

    /// Whether the key is known, by ssh's strictest rule.
    private func check(_ key: PublicKey) throws(LinkError) {
        let verdict = known.verdict(on: key)
        switch verdict {
        case .known: return
        case .revoked: throw .hostKeyRevoked(host: name, fingerprint: key.fingerprint)
        case .changed(let expected, let file):
            throw .hostKeyChanged(
                host: name, expected: expected.fingerprint, got: key.fingerprint, file: file)
        case .unknown, .otherType, .certificateAuthority:
            switch portless?.verdict(on: key) {
            case .revoked: throw .hostKeyRevoked(host: name, fingerprint: key.fingerprint)
            case .known where known.keyTypes.isEmpty: return
            case .known, .changed, .otherType, .certificateAuthority, .unknown, nil: break
            }
        }
        if case .otherType(let expected, let file) = verdict {
            // Whoever is in the middle chooses the type. A server that has a key of a known type shows that one, as it is asked for first: to ssh (9.2p1) any
            // other is a changed key, never a new one. It must only have been asked.
            if let type = known.keyTypes.first(where: { !MethodPreferences.canAsk(for: $0) }) {
                throw .needsOpenSSH(
                    detail: "\(name) is known by a key \(type), which libssh2 "
                        + "\(SSHSessionHandle.libraryVersion) cannot ask for")
            }
            throw .hostKeyChanged(
                host: name, expected: expected.fingerprint, got: key.fingerprint, file: file)
        }
        if case .certificateAuthority(let file, let line) = verdict {
            throw .needsOpenSSH(
                detail: "\(name) is trusted through a certificate authority (\(file):\(line))")
        }
        throw .hostKeyUnknown(host: name, fingerprint: key.fingerprint)
    }
}
