import HostsModel

/// What the end of an `ssh` means, made out of its exit status and its last words.
///
/// ssh exits with 255 for every error of its own, and with the status of the remote command otherwise
/// (ssh(1)); only its standard error tells one error from another. The words are those of OpenSSH 9.2 (run
/// against real servers), and, where they are known to differ, of 7.4 and 8.x (not run here).
struct OpenSSHFailure: Sendable {
    /// The exit status of ssh's own errors.
    private static let ownStatus: Int32 = 255
    /// How ssh names a peer that it reaches through another program.
    private static let carriedPeer = "UNKNOWN port 65535"
    /// Longest line of a message, in characters: the names of all algorithms of a server.
    private static let lineLimit = 600

    private let end: ShellEnd
    private let target: OpenSSHTarget
    /// What ssh and the host have said, fit for people; the first one may be cut.
    private let lines: [String]

    init(end: ShellEnd, target: OpenSSHTarget) {
        self.end = end
        self.target = target
        // ssh ends its lines with CR LF.
        lines = end.said.split { $0 == 0x0a || $0 == 0x0d }
            .map { SafeText.visible(bytes: $0, limit: Self.lineLimit) }.filter { !$0.isEmpty }
    }

    /// The error of the link.
    var error: LinkError {
        switch end.ending {
        case .signalled(let number):
            return .programFailed(name: "ssh", detail: "it was ended by signal \(number)")
        case .exited(let status) where status != Self.ownStatus: return shellEnded(status)
        case .exited, .lost, nil: break
        }
        // The host's own words are among the lines once there is a shell: they decide nothing.
        guard end.stage != .probe else { return .closedByPeer(.probe, detail: lines.last ?? "") }
        if let error = behindJumpHost { return error }
        guard let cause else {
            return .programFailed(
                name: "ssh",
                detail: lines.isEmpty ? "it says nothing" : lines.suffix(3).joined(separator: "; "))
        }
        guard isCarried else { return cause }
        guard case .closedByPeer = cause else {
            return target.jumps.isEmpty ? cause : .jumpHost(name: subject, cause)
        }
        // Whoever has ended the connection, the server or what leads to it: words there are of the latter only.
        let words = lines.filter { !$0.contains(Self.carriedPeer) && !Self.isOfExchange($0) }
        guard !words.isEmpty else { return cause }
        let failure = LinkError.programFailed(
            name: target.jumps.isEmpty ? "ProxyCommand" : "ssh",
            detail: words.suffix(3).joined(separator: "; "))
        return target.jumps.isEmpty ? failure : .jumpHost(name: subject, failure)
    }

    /// The remote command has ended by itself.
    private func shellEnded(_ status: Int32) -> LinkError {
        guard end.stage != .probe else {
            return .closedByPeer(.probe, detail: "the shell ended with status \(status)")
        }
        let said = end.noise.isEmpty ? lines.last ?? "" : end.noise
        return .noPOSIXShell(detail: said.isEmpty ? "it ended with status \(status)" : said)
    }

    /// Whether what leads to the server, a jump host or a ProxyCommand, has ended before the server was heard.
    private var isCarried: Bool {
        lines.contains { $0.contains(Self.carriedPeer) } && lines.contains(where: Self.isOfExchange)
    }

    /// Whether a line is of the exchange of versions, the first words of SSH.
    private static func isOfExchange(_ line: String) -> Bool {
        // The first was `ssh_exchange_identification` before 8.0.
        line.contains("_exchange_identification: ") || line.hasPrefix("banner exchange: ")
    }

    /// Which host the words are about.
    private var subject: String {
        isCarried && !target.jumps.isEmpty ? target.jumps.joined(separator: ",") : target.name
    }

    // MARK: Causes

    /// The most telling line decides, not the last one: ssh goes on to say what followed from it.
    private var cause: LinkError? {
        hostKey ?? configuration ?? authentication ?? connection ?? negotiation ?? refusal ?? closed
            ?? channel
            ?? master
    }

    /// A jump host, or an `ssh -W`, that works, and does not get through to the server.
    private var behindJumpHost: LinkError? {
        guard isCarried, line(beginning: "stdio forwarding failed") != nil,
            let line = line(containing: "channel ", ": open failed: ")
        else { return nil }
        if line.contains("connect failed: ") {
            return line.tail == "Connection refused"
                ? .connectionRefused(address: target.name)
                : .unreachable(address: target.name, detail: line.tail)
        }
        return .jumpHost(name: subject, .channelRefused(detail: line))
    }

    private var hostKey: LinkError? {
        if let line = line(containing: " host key for ", " was revoked and ") {
            let words = line.text(between: "", and: " host key for ")
            let host = line.text(between: " host key for ", and: " was revoked")
            return .hostKeyRevoked(host: host ?? subject, fingerprint: "\(words ?? "") key")
        }
        if let line = line(containing: "Host key ", " revoked by file ") {
            let key = line.text(between: "Host key ", and: " revoked by file")
            return .hostKeyRevoked(host: subject, fingerprint: key ?? "")
        }
        if let line = line(containing: "Host key for ", " has changed") {
            return changed(line.text(between: "Host key for ", and: " has changed") ?? subject)
        }
        if let line = line(containing: "No ", " host key is known for ") {
            let type = line.text(between: "No ", and: " host key is known for ")
            let host = line.text(between: " host key is known for ", and: " and you")
            return .hostKeyUnknown(host: host ?? subject, fingerprint: "\(type ?? "") key")
        }
        // StrictHostKeyChecking is `ask`, and nobody can be asked: ssh does not name the key.
        guard line(beginning: "Host key verification failed") != nil else { return nil }
        return .hostKeyUnknown(host: subject, fingerprint: "ssh does not show it")
    }

    private func changed(_ host: String) -> LinkError {
        let got = lines.first { $0.hasPrefix("SHA256:") || $0.hasPrefix("MD5:") }
        // "Offending ED25519 key in FILE:LINE"; a key of another type has the same words.
        let offence = line(containing: "Offending ", " key in ")
        let type = offence?.text(between: "Offending ", and: " key in ")
        let place = offence?.text(between: " key in ", and: nil)
        let colon = place?.lastIndex(of: ":")
        let file = place.map { String($0[..<(colon ?? $0.endIndex)]) }
        let number = place.flatMap { place in colon.map { String(place[place.index(after: $0)...]) } }
        return .hostKeyChanged(
            host: host, expected: "another \(type ?? "") key in line \(number ?? "?")",
            got: got.map { $0.hasSuffix(".") ? String($0.dropLast()) : $0 } ?? "a new key",
            file: file ?? "known_hosts")
    }

    private var configuration: LinkError? {
        let marks = [
            ": Bad configuration option: ", ": terminating, ", "Can't open user config file ",
            "Bad owner or permissions on ", "Cannot execute command-line and remote command",
            "hostname contains invalid characters", "remote username contains invalid characters",
            "unknown option -- ", "Bad stdio forwarding specification",
        ]
        // A shell speaks of lines like ssh does, but ssh does so before it starts a ProxyCommand.
        let said = lines.filter { line in
            marks.contains { line.contains($0) } || (!isCarried && Self.isPlaceInFile(line))
        }
        guard !said.isEmpty else { return nil }
        return .resolutionFailed(destination: subject, detail: said.suffix(3).joined(separator: "; "))
    }

    /// Whether ssh speaks of a line of its configuration: `FILE line 3: …`, `FILE: line 3: …`.
    private static func isPlaceInFile(_ line: String) -> Bool {
        guard line.hasPrefix("/") || line.hasPrefix("command-line"),
            let rest = line.text(between: " line ", and: nil)
        else { return false }
        let digits = rest.prefix { $0.isASCII && $0.isNumber }
        return !digits.isEmpty && rest.dropFirst(digits.count).hasPrefix(":")
    }

    private var authentication: LinkError? {
        if line(containing: "Too many authentication failures") != nil {
            return .tooManyKeys(user: user(nil), tried: [])
        }
        // "dev@192.0.2.1: Permission denied (publickey,password)."; before 7.6 without user and host.
        guard let denied = line(containing: "Permission denied (", ")") else { return nil }
        let methods = denied.text(between: "Permission denied (", and: ")") ?? ""
        let name = denied.text(between: "", and: "@")
        if let unusable = unusableKey { return unusable }
        guard methods.split(separator: ",").contains("publickey") else {
            return .secondFactorWanted(user: user(name), methods: methods)
        }
        let refused = user(name)
        return target.hasLocalUserName
            ? .userRefused(user: refused, tried: []) : .authenticationRefused(user: refused, tried: [])
    }

    /// A key that ssh could not use, which counts when it had no better one.
    private var unusableKey: LinkError? {
        if let line = line(beginning: "sign_and_send_pubkey: signing failed") {
            // Before 8.2 the key is not named.
            let key = line.text(between: "\"", and: "\"") ?? "the key"
            if line.contains("agent refused operation") { return .agentRefused(key: key) }
            let reason = line.lastIndex(of: ":").map { String(line[line.index(after: $0)...].dropFirst()) }
            return .keyUnusable(path: key, detail: reason ?? line)
        }
        if let line = line(beginning: "Load key \""), let path = line.text(between: "\"", and: "\"") {
            return .keyUnusable(path: path, detail: line.text(between: "\": ", and: nil) ?? "")
        }
        // "no such identity: FILE: No such file or directory", of IdentityFile.
        guard let line = line(beginning: "no such identity: ") else { return nil }
        return .keyMissing(path: line.text(between: "identity: ", and: ": ") ?? "")
    }

    private var connection: LinkError? {
        if let line = line(beginning: "ssh: Could not resolve hostname ") {
            let name = line.text(between: "hostname ", and: ": ")
            return .nameNotFound(
                name: name ?? subject, detail: line.tail)
        }
        // Several addresses give several lines; the last one is no better than the others.
        if let line = line(beginning: "ssh: connect to host ") {
            let host = line.text(between: "to host ", and: " port ") ?? subject
            let port = line.text(between: " port ", and: ":") ?? "?"
            let address = host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
            switch line.tail {
            case "Connection refused": return .connectionRefused(address: address)
            case "Connection timed out", "Operation timed out": return .timedOut(.connect, after: end.elapsed)
            default: return .unreachable(address: address, detail: line.tail)
            }
        }
        guard line(beginning: "Connection timed out during banner exchange") != nil else { return nil }
        return .timedOut(.handshake, after: end.elapsed)
    }

    private var negotiation: LinkError? {
        guard let line = line(containing: "no matching ", " found"),
            let kind = line.text(between: "no matching ", and: " found")
        else { return nil }
        let names = [
            "key exchange method": "key exchange", "host key type": "host key",
            "compression method": "compression",
        ]
        let offer = line.text(between: "Their offer: ", and: nil) ?? ""
        return .noCommonAlgorithm(kind: names[kind] ?? kind, offered: offer)
    }

    private var refusal: LinkError? {
        line(containing: "Not allowed at this time").map { .rateLimited(detail: $0) }
            ?? line(containing: "Exceeded MaxStartups").map { .rateLimited(detail: $0) }
    }

    private var closed: LinkError? {
        let stage: LinkError.Stage = lines.contains(where: Self.isOfExchange) ? .handshake : .authentication
        if let line = line(containing: "invalid characters") ?? line(containing: "banner line too long") {
            return .notSSH(address: subject, firstLine: line.tail)
        }
        let marks = [
            "Connection closed by ", "Connection reset by ", "Received disconnect from ",
            "Disconnected from ",
            "ssh_exchange_identification: ", "kex_exchange_identification: ", "ssh_dispatch_run_fatal: ",
            "client_loop: send disconnect: ", "Timeout, server ", "banner exchange: Connection ",
        ]
        guard let line = lines.first(where: { line in marks.contains { line.hasPrefix($0) } }) else {
            return line(containing: "Connection to ", " closed by remote host").map {
                .closedByPeer(.shell, detail: $0)
            }
        }
        return .closedByPeer(stage, detail: line)
    }

    private var channel: LinkError? {
        let line =
            line(containing: "channel ", ": open failed: ") ?? line(containing: " request failed on channel ")
        return line.map { .channelRefused(detail: $0) }
    }

    /// Words about a connection of the person that is shared; ssh goes on without it where it can.
    private var master: LinkError? {
        let marks = ["mux_client_", "muxclient: ", "Control socket connect(", "Control master terminated"]
        return lines.last { line in marks.contains { line.hasPrefix($0) } }
            .map { .programFailed(name: "ssh", detail: "the connection of its ControlPath: \($0)") }
    }

    // MARK: Lines

    private func line(beginning text: String) -> String? { lines.last { $0.hasPrefix(text) } }

    /// The last line with all of these, one behind the other.
    private func line(containing texts: String...) -> String? {
        lines.last { line in
            var rest = line[...]
            return texts.allSatisfy { text in
                guard let found = rest.firstRange(of: text) else { return false }
                rest = rest[found.upperBound...]
                return true
            }
        }
    }

    private func user(_ said: String?) -> String {
        said.flatMap { $0.isEmpty ? nil : $0 } ?? target.user
            ?? target.name.text(between: "", and: "@") ?? "the user of \(target.name)"
    }
}

extension String {
    /// What stands between the first `left` and the next `right`, or the end where that is nil.
    fileprivate func text(between left: String, and right: String?) -> String? {
        let start: Index
        if left.isEmpty {
            start = startIndex
        } else {
            guard let found = firstRange(of: left) else { return nil }
            start = found.upperBound
        }
        guard let right else { return String(self[start...]) }
        guard let end = self[start...].firstRange(of: right) else { return nil }
        return String(self[start..<end.lowerBound])
    }

    /// What stands behind the last colon.
    fileprivate var tail: String {
        guard let colon = lastIndex(of: ":") else { return self }
        return String(self[index(after: colon)...].drop { $0 == " " })
    }
}
