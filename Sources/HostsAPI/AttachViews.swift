import FoundationEssentials

/// The first line of `POST /v1/hosts/NAME/attach`: what the client starts on its terminal.
package struct AttachDocument: Codable, Hashable, Sendable {
    package static let kind = "attach"

    package var schema: Int
    package var kind: String
    package var host: String
    /// The id of the agent session that is attached to; null for a shell.
    @OrNull package var session: String?
    /// `ssh`, or `local` for this machine.
    package var transport: String
    /// What the record says after `ssh =`; empty for `local`.
    package var destination: String
    /// `none` or `tmux`, as the record says.
    package var restore: String
    /// The program and its arguments, for execvp(3); empty for a login shell on this machine.
    package var arguments: [String]
    /// Of the last look at the host; null before there was one.
    @OrNull package var bootID: String?

    package init(
        host: String, session: String?, transport: String, destination: String, restore: String,
        arguments: [String], bootID: String?
    ) {
        schema = apiSchema
        kind = Self.kind
        self.host = host
        self.session = session
        self.transport = transport
        self.destination = destination
        self.restore = restore
        self.arguments = arguments
        self.bootID = bootID
    }
}

/// Every further line: what a running attach must know to tell damage from an end, when it changes.
package struct PhaseDocument: Codable, Hashable, Sendable {
    package static let kind = "phase"

    package var schema: Int
    package var kind: String
    /// `active`, `inactive` or `background`.
    package var phase: String
    /// Whether packets to the host would leave this machine.
    package var hasRoute: Bool
    /// Whether a key of the host waits for its passphrase.
    package var awaitsPassphrase: Bool
    @OrNull package var bootID: String?

    package init(phase: String, hasRoute: Bool, awaitsPassphrase: Bool, bootID: String?) {
        schema = apiSchema
        kind = Self.kind
        self.phase = phase
        self.hasRoute = hasRoute
        self.awaitsPassphrase = awaitsPassphrase
        self.bootID = bootID
    }
}

/// One line of the stream of a running attach.
package enum AttachLine: Hashable, Sendable {
    case attach(AttachDocument)
    case phase(PhaseDocument)
}

extension AttachLine: Codable {
    private enum Member: String, CodingKey {
        case kind
    }

    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Member.self)
        switch try members.decode(String.self, forKey: .kind) {
        case AttachDocument.kind: self = .attach(try AttachDocument(from: decoder))
        case PhaseDocument.kind: self = .phase(try PhaseDocument(from: decoder))
        default:
            throw DecodingError.dataCorruptedError(
                forKey: .kind, in: members, debugDescription: "no kind of line that is known")
        }
    }

    package func encode(to encoder: any Encoder) throws {
        switch self {
        case .attach(let document): try document.encode(to: encoder)
        case .phase(let document): try document.encode(to: encoder)
        }
    }
}

/// The body of `POST /v1/hosts/NAME/attach`: nothing, `{}`, or `{"session":"…"}`.
package enum AttachBody {
    /// Longest name of a session, in bytes.
    package static let sessionLimit = 256

    /// Writes the body that names a session.
    ///
    /// - Parameter session: The id of an agent session, its pane such as `%4`, or its place such as `main:0.1`.
    /// - Returns: The body.
    package static func encoded(_ session: String) -> SecretBytes {
        do {
            return SecretBytes(copying: try JSONEncoder().encode(["session": session]))
        } catch {
            preconditionFailure("a text is always JSON: \(error)")
        }
    }
}
