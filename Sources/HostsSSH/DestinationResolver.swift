import HostsModel
import HostsProcess

/// Asks ssh itself what a destination means, so that every line of the person's ssh_config counts.
struct DestinationResolver: Sendable {
    /// `ssh -G` prints about 4 KiB.
    private static let outputLimit = ByteCount.kibibytes(64)

    let settings: LinkSettings

    /// Runs `ssh -G`; `Match exec` may run commands of the person, hence the deadline.
    func resolve(_ destination: String) async throws(LinkError) -> Destination {
        guard !destination.isEmpty, !destination.hasPrefix("-") else {
            throw .resolutionFailed(
                destination: destination, detail: "a destination is a name, and does not begin with \"-\"")
        }
        let options = settings.configFile.map { ["-F", $0] } ?? []
        let timeout = settings.timeouts.resolve
        let outcome: ChildOutcome
        do {
            outcome = try await ChildProcess.run(
                program: settings.sshProgram, arguments: options + ["-G", "--", destination],
                environment: settings.environment, deadline: .now + timeout, outputLimit: Self.outputLimit)
        } catch .cancelled {
            throw .cancelled
        } catch {
            throw .resolutionFailed(destination: destination, detail: error.message)
        }
        switch outcome.ending {
        case .timedOut: throw .timedOut(.resolve, after: timeout)
        case .exited, .signalled: break
        }
        let output = String(decoding: outcome.output, as: UTF8.self)
        guard outcome.isSuccess, let configuration = SSHConfiguration(output: output) else {
            let said = SafeText.visible(bytes: outcome.errorOutput)
            throw .resolutionFailed(
                destination: destination, detail: said.isEmpty ? "it prints no configuration" : said)
        }
        return try Destination(name: destination, configuration: configuration, settings: settings)
    }

    func chain(of name: String) async throws(LinkError) -> [Destination] {
        let d = try await resolve(name)
        guard case .jump(let hops) = d.route else { return [d] }
        var result: [Destination] = []
        for hop in hops {
            let n = hop.contains(":") ? "ssh://" + hop : hop
            if result.isEmpty { result = try await chain(of: n) } else { result.append(try await resolve(n)) }
        }
        return result + [d]
    }
}
