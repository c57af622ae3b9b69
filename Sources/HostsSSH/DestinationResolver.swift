import HostsModel
import HostsProcess

/// Asks ssh itself what a destination means, so that every line of the person's ssh_config counts.
struct DestinationResolver: Sendable {
    /// What ssh is asked about.
    struct Query: Hashable, Sendable {
        /// What comes after `ssh`.
        let target: String
        /// Options before it.
        var options: [String] = []
        /// How it is told to people.
        let name: String

        /// A destination as a person types it.
        init(_ name: String) {
            target = name
            self.name = name
        }

        /// A hop of ProxyJump, asked for as ssh does for `-J`: its port and user are options, as a URI cannot hold
        /// an IPv6 address (9.2p1).
        ///
        /// - Parameters:
        ///   - hop: The host.
        ///   - text: As it was written.
        ///   - earlier: The hops that lead to it, which take the place of its own ProxyJump and ProxyCommand.
        init(_ hop: JumpHop, text: String, after earlier: ArraySlice<String>) {
            target = hop.host
            name = text
            if let user = hop.user { options += ["-l", user] }
            if let port = hop.port { options += ["-p", String(port)] }
            // Their tokens are filled in already.
            let list = earlier.map { $0.split(separator: "%", omittingEmptySubsequences: false) }
                .map { $0.joined(separator: "%%") }.joined(separator: ",")
            if !list.isEmpty { options += ["-J", list] }
        }
    }

    /// `ssh -G` prints about 4 KiB, and with `-v` a line for each file.
    private static let outputLimit = ByteCount.kibibytes(64)
    /// Most hosts on the way to a destination.
    static let hopLimit = 8

    private let settings: LinkSettings
    private let blocking: BlockingCalls
    private let cache: DestinationCache

    /// - Parameters:
    ///   - settings: The program, its configuration file, its environment.
    ///   - resources: What was resolved before, and the workers.
    init(settings: LinkSettings, resources: LinkResources) {
        self.settings = settings
        blocking = resources.blocking
        cache = resources.destinations
    }

    /// Tells what a destination means, by ssh or from the cache.
    ///
    /// - Parameter destination: What comes after `ssh`.
    /// - Returns: Everything that its configuration says.
    /// - Throws: `.resolutionFailed`, `.timedOut` or `.cancelled`.
    func resolve(_ destination: String) async throws(LinkError) -> Destination {
        try await resolve(Query(destination))
    }

    // MARK: The way

    /// Tells the hosts on the way to a destination, in the order in which they are dialled, and it itself last.
    ///
    /// As `ssh -J a,b host` does it: `b` is reached through `a` whatever its own configuration says, and `a` as its
    /// own configuration says, which may name hosts on the way to it, or a ProxyCommand.
    ///
    /// - Parameter name: What comes after `ssh`.
    /// - Returns: Only the first of them may have a ProxyCommand.
    /// - Throws: `.jumpHost` for what is wrong with a hop; other errors are of the destination itself.
    func chain(of name: String) async throws(LinkError) -> [Destination] {
        var chain = [try await resolve(Query(name))]
        // The hosts whose own configuration led further, the destination first.
        var seen = [Endpoint(chain[0])]
        while case .jump(let hops) = chain[0].route {
            guard chain.count - 1 + hops.count <= Self.hopLimit else {
                throw .resolutionFailed(
                    destination: name, detail: "there are more than \(Self.hopLimit) hosts on the way to it")
            }
            chain.insert(contentsOf: try await resolve(hops, for: name), at: 0)
            let first = Endpoint(chain[0])
            if let start = seen.firstIndex(of: first) {
                let circle = (seen[start...] + [first]).map(\.name).joined(separator: " to ")
                throw .resolutionFailed(
                    destination: name, detail: "ProxyJump leads in a circle, from \(circle)")
            }
            seen.append(first)
        }
        return chain
    }

    /// A place to log in, whatever it is called.
    private struct Endpoint: Equatable {
        let name: String
        private let address: String
        private let user: String

        init(_ destination: Destination) {
            name = destination.name
            address = destination.address
            user = destination.user
        }

        static func == (a: Endpoint, b: Endpoint) -> Bool {
            a.address == b.address && a.user == b.user
        }
    }

    private func resolve(_ hops: [String], for name: String) async throws(LinkError) -> [Destination] {
        var way: [Destination] = []
        for (index, text) in hops.enumerated() {
            do throws(LinkError) {
                guard let hop = JumpHop(text) else {
                    throw LinkError.resolutionFailed(
                        destination: text, detail: "a host of ProxyJump is [user@]host[:port]")
                }
                way.append(try await resolve(Query(hop, text: text, after: hops[..<index])))
            } catch {
                if error.disposition == .ours { throw error }
                throw .jumpHost(name: text, error)
            }
        }
        return way
    }

    // MARK: Asking ssh

    private func resolve(_ query: Query) async throws(LinkError) -> Destination {
        guard !query.target.isEmpty, !query.target.hasPrefix("-") else {
            throw .resolutionFailed(
                destination: query.name, detail: "a destination is a name, and does not begin with \"-\"")
        }
        let key = DestinationCache.Key(query, settings)
        let cache = cache
        switch try await blocking.result(within: settings.timeouts.resolve, { cache.lookUp(key) }) {
        case .known(let destination): return destination
        case .unknown(let files):
            let answer = try await ask(query)
            let homes = try await homes(answer.configuration.namedAccounts)
            let destination = try Destination(
                name: query.name, configuration: answer.configuration, settings: settings, homes: homes)
            let isLasting = !files.isVolatile && !answer.configuration.isCanonicalized
            if isLasting, let read = answer.files, files.covers(read) {
                cache.store(destination, for: key, files: files)
            }
            return destination
        }
    }

    /// What ssh said, and what it has read; nil when it had too much to say.
    private struct Answer {
        let configuration: SSHConfiguration
        let files: [String]?
    }

    /// Runs `ssh -G`; `Match exec` may run commands of the person, and CanonicalizeHostname asks DNS, hence the
    /// deadline.
    private func ask(_ query: Query) async throws(LinkError) -> Answer {
        let options = settings.configFile.map { ["-F", $0] } ?? []
        let timeout = settings.timeouts.resolve
        let outcome: ChildOutcome
        do {
            outcome = try await ChildProcess.run(
                program: settings.sshProgram,
                arguments: ["-v"] + options + SSHConfiguration.connectionHashOption + query.options
                    + ["-G", "--", query.target],
                environment: settings.environment, deadline: .now + timeout, outputLimit: Self.outputLimit)
        } catch .cancelled {
            throw .cancelled
        } catch {
            throw .resolutionFailed(destination: query.name, detail: error.message)
        }
        switch outcome.ending {
        case .timedOut: throw .timedOut(.resolve, after: timeout)
        case .exited, .signalled: break
        }
        let talk = Talk(String(decoding: outcome.errorOutput, as: UTF8.self))
        let output = String(decoding: outcome.output, as: UTF8.self)
        guard outcome.isSuccess, let configuration = SSHConfiguration(output: output) else {
            throw .resolutionFailed(
                destination: query.name,
                detail: talk.complaint.isEmpty ? "it prints no configuration" : talk.complaint)
        }
        return Answer(configuration: configuration, files: outcome.isOutputCut ? nil : talk.files)
    }

    private func homes(_ accounts: Set<String>) async throws(LinkError) -> [String: String] {
        guard !accounts.isEmpty else { return [:] }
        return try await blocking.result(within: settings.timeouts.resolve) {
            accounts.reduce(into: [:]) { $0[$1] = TokenExpansion.home(of: $1) }
        }
    }

    /// What `ssh -v` says on its standard error.
    private struct Talk {
        /// The files that it has read.
        private(set) var files: [String] = []
        /// What is wrong.
        private(set) var complaint = ""

        init(_ text: String) {
            let reading = "debug1: Reading configuration data "
            var complaints: [String] = []
            for line in text.split(whereSeparator: \.isNewline) {
                if line.hasPrefix(reading) {
                    files.append(String(line.dropFirst(reading.count)))
                } else if !line.hasPrefix("debug"), !line.hasPrefix("OpenSSH_") {
                    complaints.append(String(line))
                }
            }
            complaint = SafeText.visible(complaints.joined(separator: "\n"))
        }
    }
}
