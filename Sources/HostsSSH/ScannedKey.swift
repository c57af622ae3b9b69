import FoundationEssentials
import HostsModel
import HostsProcess

/// The host key that the ssh program is shown, for servers that libssh2 cannot talk to.
///
/// ssh writes it into a file of its own, as it would into known_hosts, and is then kept from logging in.
struct ScannedKey: Sendable {
    private static let outputLimit = ByteCount.kibibytes(64)
    private static let fileLimit = 64 * 1024
    /// Nothing is trusted beforehand, everything is taken, nobody is logged in; older clients may not know an option.
    private static let options = [
        "IgnoreUnknown=*", "BatchMode=yes", "StrictHostKeyChecking=accept-new",
        "GlobalKnownHostsFile=/dev/null",
        "HashKnownHosts=no", "UpdateHostKeys=no", "ControlPath=none", "ControlMaster=no",
        "PubkeyAuthentication=no", "PasswordAuthentication=no", "KbdInteractiveAuthentication=no",
        "GSSAPIAuthentication=no", "HostbasedAuthentication=no", "RemoteCommand=none",
        "ClearAllForwardings=yes",
        "PermitLocalCommand=no",
    ]

    let settings: LinkSettings

    /// Connects, by whatever way leads there, and ends the connection before anything is said about the user's keys.
    ///
    /// - Parameter destination: The host.
    /// - Returns: The key that the server has proven to hold.
    /// - Throws: `.programFailed` with ssh's last words, `.timedOut`, or `.cancelled`.
    func key(of destination: Destination) async throws(LinkError) -> PublicKey {
        let folder = FileManager.default.temporaryDirectory.appending(path: "hostsd-\(UUID().uuidString)")
        do {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        } catch {
            throw .programFailed(name: "ssh", detail: "\(folder.path): \(error)")
        }
        defer {
            // What cannot be removed is left to the cleaning of /tmp.
            do { try FileManager.default.removeItem(at: folder) } catch {}
        }
        let file = folder.appending(path: "known_hosts").path
        let said = try await run(destination, file)
        guard let text = BoundedFile.read(file, limit: Self.fileLimit), let key = Self.key(in: text) else {
            throw .programFailed(name: "ssh", detail: said)
        }
        return key
    }

    private func run(_ destination: Destination, _ file: String) async throws(LinkError) -> String {
        let config = settings.configFile.map { ["-F", $0] } ?? []
        let options = (Self.options + ["UserKnownHostsFile=\(file)"]).flatMap { ["-o", $0] }
        let timeout = settings.timeouts.connect + settings.timeouts.handshake
        let outcome: ChildOutcome
        do {
            outcome = try await ChildProcess.run(
                program: settings.sshProgram,
                arguments: config + options + ["-T", "--", destination.name, "exit"],
                environment: settings.environment, deadline: .now + timeout, outputLimit: Self.outputLimit)
        } catch .cancelled {
            throw .cancelled
        } catch {
            throw .programFailed(name: "ssh", detail: error.message)
        }
        if case .timedOut = outcome.ending { throw .timedOut(.handshake, after: timeout) }
        return SafeText.visible(bytes: outcome.errorOutput)
    }

    /// The first key of a known_hosts file that holds nothing else.
    private static func key(in text: [UInt8]) -> PublicKey? {
        let words = text.prefix { $0 != 0x0a }.split(separator: 0x20)
        guard words.count >= 3, let blob = Base64.decode(words[2]) else { return nil }
        return PublicKey(blob: blob)
    }
}
