import HostsModel

/// What the person's known_hosts files say about one destination, and what follows for the key that it shows.
struct HostTrust: Sendable {
    private let known: KnownHosts
    /// What the files say about the host on port 22; ssh takes a match from there, and nothing else.
    private let portless: KnownHosts?
    private let name: String

    /// Reads the files.
    ///
    /// Blocks on the file system; a file that is not there holds nothing.
    init(destination: Destination) {
        let files = destination.knownHostsFiles.compactMap { path in
            BoundedFile.read(path, limit: KnownHosts.fileLimit).map { KnownHosts.File(path: path, text: $0) }
        }
        self.init(
            files: files, name: destination.knownHostsName, portlessName: destination.portlessName)
    }

    init(files: [KnownHosts.File], name: String, portlessName: String?) {
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
    /// - Throws: Unless the key is known; nothing more is then said to the server.
    func check(_ key: PublicKey) throws(LinkError) {
        let verdict = known.verdict(on: key)
        switch verdict {
        case .known: return
        case .revoked: throw .hostKeyRevoked(host: name, fingerprint: key.fingerprint)
        case .changed(let expected, let file):
            throw .hostKeyChanged(
                host: name, expected: expected.fingerprint, got: key.fingerprint, file: file)
        case .unknown, .certificateAuthority:
            switch portless?.verdict(on: key) {
            case .revoked: throw .hostKeyRevoked(host: name, fingerprint: key.fingerprint)
            case .known where known.keyTypes.isEmpty: return
            case .known, .changed, .certificateAuthority, .unknown, nil: break
            }
        }
        if case .certificateAuthority(let file, let line) = verdict {
            throw .needsOpenSSH(
                detail: "\(name) is trusted through a certificate authority (\(file):\(line))")
        }
        throw .hostKeyUnknown(host: name, fingerprint: key.fingerprint)
    }
}
