package import HostsModel

extension LinkFactory: HostAccess {
    package func hostKey(of record: HostRecord) async throws(LinkError) -> HostKeyOffer {
        try await visit(record).offer().offer
    }

    package func trust(
        _ record: HostRecord, fingerprint: String
    ) async throws(HostAccessError) -> HostKeyOffer {
        try await visit(record).trust(fingerprint: fingerprint)
    }

    package func unlock(
        _ record: HostRecord, passphrase: [UInt8]
    ) async throws(HostAccessError) -> [String] {
        try await visit(record).unlock(passphrase: passphrase)
    }
}

/// One person's help for one host, on the event loop.
actor HostVisit {
    private nonisolated let resources: LinkResources
    private let record: HostRecord
    private let settings: LinkSettings
    private let dialer: SessionDialer

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe resources.loop.asUnownedSerialExecutor() }

    init(record: HostRecord, resources: LinkResources, settings: LinkSettings, dialer: SessionDialer) {
        self.record = record
        self.resources = resources
        self.settings = settings
        self.dialer = dialer
    }

    /// A host key in question.
    struct Question: Sendable {
        let offer: HostKeyOffer
        fileprivate let key: PublicKey
        fileprivate let destination: Destination
    }

    /// Asks the hosts on the way one after another, up to the first whose key is not known.
    func offer() async throws(LinkError) -> Question {
        let chain = try await chain()
        for count in 1...chain.count {
            let part = Array(chain.prefix(count))
            let (key, trust) = try await shownKey(part)
            let offer = trust.offer(for: key)
            guard offer.verdict == .known, count < chain.count else {
                return Question(offer: offer, key: key, destination: part[count - 1])
            }
        }
        preconditionFailure("a chain ends with its destination")
    }

    /// By libssh2, or by the ssh program where they have no algorithm in common.
    private func shownKey(_ chain: [Destination]) async throws(LinkError) -> (
        key: PublicKey, trust: HostTrust
    ) {
        do {
            return try await dialer.hostKey(of: chain)
        } catch {
            guard record.transport != .libssh2, TransportChoice.isLasting(error), let last = chain.last else {
                throw error
            }
            let key = try await ScannedKey(settings: settings).key(of: last)
            let trust = try await dialer.onWorker { HostTrust(destination: last) }
            return (key, trust)
        }
    }

    /// Adds the key to known_hosts that has the fingerprint which the person has accepted.
    func trust(fingerprint: String) async throws(HostAccessError) -> HostKeyOffer {
        let question: Question
        do throws(LinkError) { question = try await offer() } catch { throw .link(error) }
        let offer = question.offer
        guard offer.fingerprint == fingerprint else { throw .otherKey(offer) }
        switch offer.verdict {
        case .known: return offer
        case .changed, .revoked: throw .refused(offer)
        case .unknown: break
        }
        guard !offer.file.isEmpty else {
            throw .fileNotWritten(path: "UserKnownHostsFile", detail: "ssh_config names no file")
        }
        let writer = KnownHostsWriter(destination: question.destination, key: question.key)
        let failure: KnownHostsWriter.Failure?
        do throws(LinkError) {
            failure = try await dialer.onWorker {
                do throws(KnownHostsWriter.Failure) {
                    try writer.append(to: offer.file)
                    return nil
                } catch {
                    return error
                }
            }
        } catch {
            throw .link(error)
        }
        if let failure { throw .fileNotWritten(path: failure.path, detail: failure.detail) }
        return offer
    }

    /// Opens the keys of the host, and of those on the way to it, that a passphrase fits.
    func unlock(passphrase: [UInt8]) async throws(HostAccessError) -> [String] {
        let outcomes: [(path: String, outcome: UnlockedKeys.Outcome)]
        do throws(LinkError) {
            let identities = try await chain().flatMap(\.identities).filter { $0.problem == nil }
            let unlocked = resources.unlockedKeys
            outcomes = try await dialer.onWorker {
                var seen: Set<String> = []
                return identities.filter { seen.insert($0.path).inserted && unlocked.key($0.path) == nil }
                    .map { ($0.path, unlocked.unlock($0.path, passphrase: passphrase)) }
            }
        } catch {
            throw .link(error)
        }
        let opened = outcomes.filter { $0.outcome == .opened }.map(\.path)
        guard opened.isEmpty else { return opened }
        for (path, outcome) in outcomes {
            if case .failed(let detail) = outcome { throw .link(.keyUnusable(path: path, detail: detail)) }
        }
        let refused = outcomes.filter { $0.outcome == .wrongPassphrase }.map(\.path)
        throw refused.isEmpty ? .nothingLocked : .wrongPassphrase(paths: refused)
    }

    private func chain() async throws(LinkError) -> [Destination] {
        guard record.transport != .local else {
            throw .unsupported(
                detail: "\(record.id) is this machine, which needs neither a host key nor a login")
        }
        return try await DestinationResolver(settings: settings, resources: resources).chain(
            of: record.destination)
    }
}
