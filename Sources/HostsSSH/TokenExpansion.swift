import Glibc

/// Fills in `~`, `%` tokens and `${VARIABLES}` of ssh_config values (ssh_config(5), TOKENS), as far as `ssh -G`
/// leaves that to others.
///
/// OpenSSH 9.2p1 prints HostName, ControlPath, IdentityAgent, UserKnownHostsFile and RemoteCommand filled in, and
/// IdentityFile, CertificateFile, ProxyCommand and ProxyJump as they were written. GlobalKnownHostsFile and
/// HostKeyAlias know no tokens: ssh takes them literally.
struct TokenExpansion: Sendable {
    /// Why a value cannot be filled in.
    enum Failure: Error, Hashable, Sendable {
        case unknownToken(Character)
        case unknownVariable(String)
        case unclosedVariable
        case unknownUser(String)
    }

    /// Which tokens a keyword accepts (ssh_config(5)).
    private enum Keywords {
        /// IdentityFile and CertificateFile; variables, too.
        case files
        /// ProxyCommand and ProxyJump.
        ///
        /// `${VARIABLES}` of a command are left to the shell that runs it.
        case proxies

        var tokens: String {
            switch self {
            case .files: "%CdhijkLlnpru"
            case .proxies: "%hnpr"
            }
        }
    }

    /// `%d` and `~`.
    let homeDirectory: String
    /// Home directories of other accounts, for `~account`.
    var homes: [String: String] = [:]
    /// `%u`.
    let localUser: String
    /// `%i`.
    var localUserID: UInt32 = getuid()
    /// `%l`, and up to its first dot `%L`.
    var localHost = Self.hostNameHere()
    /// `%h`.
    let remoteHost: String
    /// `%n`.
    let originalHost: String
    /// `%p`.
    let port: UInt16
    /// `%r`.
    let remoteUser: String
    /// `%k`, or else what `%n` is.
    let hostKeyAlias: String?
    /// `%C`: ssh itself says it, as it is made of more in newer versions (9.2p1: SHA-1 of `%l%h%p%r`).
    var connectionHash: String?
    /// `%j` (newer than 9.2p1, which refuses it): the last host of ProxyJump, or nothing.
    var jumpHost = ""
    let environment: [String: String]

    /// The path of a key or a certificate: first `~`, then everything else, as ssh does.
    func path(_ text: String) throws(Failure) -> String {
        try fill(try tilde(text), .files)
    }

    /// A ProxyCommand, or a host of ProxyJump.
    func proxy(_ text: String) throws(Failure) -> String { try fill(text, .proxies) }

    /// The account whose home directory `text` begins with, if it is not one's own.
    static func account(in text: String) -> String? {
        guard text.hasPrefix("~") else { return nil }
        let name = text.dropFirst().prefix { $0 != "/" }
        return name.isEmpty ? nil : String(name)
    }

    /// The home directory of an account; nil when there is none of that name.
    ///
    /// Blocks: the account may be in a directory on the network.
    static func home(of account: String) -> String? {
        var entry = unsafe passwd()
        var buffer = [CChar](repeating: 0, count: 16 * 1024)
        var found: UnsafeMutablePointer<passwd>?
        guard unsafe getpwnam_r(account, &entry, &buffer, buffer.count, &found) == 0, unsafe found != nil,
            let folder = unsafe entry.pw_dir
        else { return nil }
        return unsafe String(cString: folder)
    }

    private func tilde(_ text: String) throws(Failure) -> String {
        guard text.hasPrefix("~") else { return text }
        guard let account = Self.account(in: text) else { return homeDirectory + text.dropFirst() }
        guard let home = homes[account] else { throw .unknownUser(account) }
        return home + text.dropFirst(1 + account.count)
    }

    private func fill(_ text: String, _ keywords: Keywords) throws(Failure) -> String {
        var result = ""
        var rest = text[...]
        while let character = rest.popFirst() {
            switch (character, keywords) {
            case ("%", _):
                // A lone "%" at the end is as wrong as an unknown letter.
                let token = rest.popFirst() ?? " "
                guard keywords.tokens.contains(token) else { throw .unknownToken(token) }
                result += try value(of: token)
            case ("$", .files) where rest.first == "{":
                guard let end = rest.firstIndex(of: "}") else { throw .unclosedVariable }
                let name = String(rest[rest.index(after: rest.startIndex)..<end])
                guard let value = environment[name] else { throw .unknownVariable(name) }
                rest = rest[rest.index(after: end)...]
                result += value
            case (_, .files), (_, .proxies): result.append(character)
            }
        }
        return result
    }

    private func value(of token: Character) throws(Failure) -> String {
        switch token {
        case "%": return "%"
        case "C":
            guard let connectionHash else { throw .unknownToken(token) }
            return connectionHash
        case "d": return homeDirectory
        case "h": return remoteHost
        case "i": return String(localUserID)
        case "j": return jumpHost
        case "k": return hostKeyAlias ?? originalHost
        case "L": return String(localHost.prefix { $0 != "." })
        case "l": return localHost
        case "n": return originalHost
        case "p": return String(port)
        case "r": return remoteUser
        case "u": return localUser
        default: throw .unknownToken(token)
        }
    }

    private static func hostNameHere() -> String {
        // HOST_NAME_MAX of Linux is 64.
        var buffer = [CChar](repeating: 0, count: 256)
        guard unsafe gethostname(&buffer, buffer.count - 1) == 0 else { return "" }
        return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

extension TokenExpansion.Failure {
    /// What is wrong, in words.
    var detail: String {
        switch self {
        case .unknownToken(let token): "%\(token) means nothing there"
        case .unknownVariable(let name): "the variable \(name) is not set"
        case .unclosedVariable: "a \"${\" has no \"}\""
        case .unknownUser(let name): "there is no account \(name) here"
        }
    }
}
