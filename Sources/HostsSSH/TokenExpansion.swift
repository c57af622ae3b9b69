/// Fills in `~`, `%` tokens and `${VARIABLES}` of ssh_config values (ssh_config(5), TOKENS), which `ssh -G`
/// leaves as they are in IdentityFile and HostKeyAlias.
struct TokenExpansion: Sendable {
    /// Why a value cannot be filled in.
    enum Failure: Error, Hashable, Sendable {
        case unknownToken(Character)
        case unknownVariable(String)
        case otherUsersHome
    }

    let homeDirectory: String
    let localUser: String
    let remoteHost: String
    let originalHost: String
    let port: UInt16
    let remoteUser: String
    let hostKeyAlias: String?
    let environment: [String: String]

    func path(_ text: String) throws(Failure) -> String {
        let expanded = try value(text)
        guard expanded.hasPrefix("~") else { return expanded }
        if expanded == "~" { return homeDirectory }
        guard expanded.hasPrefix("~/") else { throw .otherUsersHome }
        return homeDirectory + expanded.dropFirst()
    }

    func value(_ text: String) throws(Failure) -> String {
        var result = ""
        var rest = text[...]
        while let character = rest.popFirst() {
            if character == "%" {
                guard let token = rest.popFirst() else { throw .unknownToken("%") }
                result += try self.token(token)
            } else if character == "$", rest.first == "{" {
                let name = rest.dropFirst().prefix { $0 != "}" }
                guard let value = environment[String(name)] else { throw .unknownVariable(String(name)) }
                rest = rest[name.endIndex...].dropFirst()
                result += value
            } else {
                result.append(character)
            }
        }
        return result
    }

    private func token(_ token: Character) throws(Failure) -> String {
        switch token {
        case "%": "%"
        case "d": homeDirectory
        case "h": remoteHost
        case "k": hostKeyAlias ?? originalHost
        case "n": originalHost
        case "p": String(port)
        case "r": remoteUser
        case "u": localUser
        default: throw .unknownToken(token)
        }
    }
}

extension TokenExpansion.Failure {
    /// What is wrong, in words.
    var detail: String {
        switch self {
        case .unknownToken(let token): "hostsd does not know the token %\(token)"
        case .unknownVariable(let name): "the variable \(name) is not set"
        case .otherUsersHome: "hostsd does not look up other people's home directories"
        }
    }
}
