import Glibc
import HostsAPI
import HostsAttention
import HostsConfig
import HostsHub
import HostsLog
import HostsModel
import HostsPOSIX
import HostsSSH
import HostsServer
package import HostsSystem

/// All parts of the daemon, put together; the one place that chooses the real clock, folders and links.
package struct Daemon: Sendable {
    /// As `hostsd --version` tells it.
    package static let version = "0.1.0"

    /// How long the last deliveries may take when the daemon stops.
    private static let stopGrace = Duration.seconds(1)
    /// How often the line of `systemctl status` is looked at.
    private static let statusInterval = Duration.seconds(5)

    private let paths: Paths
    private let service: ServiceManager
    private let signals: AsyncStream<ProcessSignal>
    private let clock = SystemClock()
    private let wallClock = SystemWallClock()
    private let log: Log
    private let hub: ConnectionHub
    private let center: AttentionCenter
    private let keeper: ConfigurationKeeper
    private let folder: FolderReader
    private let server: HTTPServer
    private let watch: FolderWatch
    private let sshConfig: SSHConfigWatch
    private let lifecycle: LifecycleParts
    /// Held for as long as the daemon runs.
    private let claim: FolderClaim?

    /// Opens what the daemon cannot be without: its folders, its socket, its event loop.
    ///
    /// - Parameters:
    ///   - options: The command line.
    ///   - service: The service manager, if there is one; adopted before any other thread ran.
    /// - Throws: When the daemon cannot run; nothing of it is left.
    package init(_ options: Options, service: ServiceManager) throws(StartFailure) {
        self.service = service
        let environment = Paths.environment()
        paths = try Self.findPaths(options, environment)
        let sink: any LogSink =
            switch options.logFormat {
            case .json: JSONLinesSink(descriptor: STDERR_FILENO)
            case .text: TerminalSink.standardError(environment: environment)
            }
        let logs = LogCenter(sinkLevel: options.logLevel ?? .info, sinks: [sink], clock: wallClock)
        log = logs.log(.daemon)
        let loop: EventLoop
        do throws(SystemError) {
            loop = try EventLoop()
        } catch {
            throw .system("the event loop cannot be made: \(error); look at ulimit -n")
        }
        do throws(SystemFailure) {
            signals = try ProcessSignals.catching()
            watch = try FolderWatch(folders: paths.watchedFolders, clock: clock, log: logs.log(.config))
        } catch {
            throw .system(error.description)
        }
        let shipped = options.rulesDirectory ?? AgentRulesFolder.shipped(with: ProgramFile.path)
        let rules = RuleShelf(shipped: shipped, own: paths.agents, log: logs.log(.config))

        let resources = LinkResources(loop: loop)
        sshConfig = SSHConfigWatch(resources: resources, clock: clock, log: logs.log(.config))
        let links = LinkParts(
            resources: resources, environment: environment, log: logs.log(.ssh))
        let connector = SettableConnector(links.factory(Settings()))
        let hubEnvironment = ConnectionHub.Environment(
            connector: connector, clock: clock, wallClock: wallClock, jitter: SystemJitter(),
            logs: logs, hasRoute: { RouteMonitor.hasRoute(to: $0) ?? false },
            makeInterpreter: { rules.makeDetector(for: $0) })
        let hub = ConnectionHub(environment: hubEnvironment, settings: ConnectionHub.Settings())
        self.hub = hub

        let hookEnvironment = HookEnvironment(inherited: environment, socket: paths.socket)
        let runner = SettableHookRunner(HookRunner(environment: hookEnvironment))
        let hooksFolder = paths.hooks
        let center: AttentionCenter
        do throws(SystemError) {
            center = try AttentionCenter(
                database: paths.state + "/hostsd.db",
                environment: AttentionCenter.Environment(
                    clock: clock, wall: wallClock, jitter: SystemJitter(), runner: runner,
                    readHooks: { HookFolder.read([hooksFolder]) }, log: logs))
        } catch {
            throw .system("a thread cannot be made: \(error); look at ulimit -u")
        }
        self.center = center

        let lifecycle = LifecycleParts(
            hub: hub, center: center, service: service,
            busAddress: environment["DBUS_SYSTEM_BUS_ADDRESS"] ?? LoginManager.usualBusAddress, clock: clock,
            logs: logs)
        self.lifecycle = lifecycle
        let targets = ConfigurationTargets(
            links: links, connector: connector, hub: hub, center: center, refresh: lifecycle.refresh,
            runner: runner,
            hookEnvironment: hookEnvironment, logs: logs, fixedLevel: options.logLevel)
        let keeper = ConfigurationKeeper(
            reader: ConfigurationReader(directory: paths.configuration), clock: clock, log: logs.log(.config),
            putInForce: { await targets.putInForce($0) },
            tell: { await center.postFault(of: $0.file, host: $0.host, summary: $0.summary) })
        self.keeper = keeper
        let folder = FolderReader(rules: rules, center: center, keeper: keeper)
        self.folder = folder

        let version = VersionDocument(version: Self.version, pid: Int(getpid()))
        let fleet = FleetService(
            facts: .init(version: version, started: wallClock.now, paths: paths), hub: hub, center: center,
            keeper: keeper, overrides: OverrideWriter(paths: paths),
            windows: lifecycle.refresh,
            delayRefusal: { await lifecycle.background.refusal?.description },
            rehearse: { lifecycle.observer.rehearse($0) },
            check: SignalCheck(environment: hubEnvironment), access: { connector.access },
            logs: LogFeed(center: logs), clock: wallClock, readAll: { await folder.readAll() })
        do throws(HTTPServerError) {
            server = try HTTPServer(
                path: paths.socket, service: fleet, version: version, clock: clock, log: logs.log(.api))
        } catch {
            throw .server(error)
        }
        // After the socket: who starts the same daemon twice is told of the one that runs.
        claim = try Self.claimState(paths.state, log)
    }

    /// Makes sure that no other daemon tells of the same events.
    ///
    /// - Returns: The claim; nil where the file system knows none, which is no reason not to run.
    private static func claimState(_ folder: String, _ log: Log) throws(StartFailure) -> FolderClaim? {
        do throws(FolderClaim.Failure) {
            return try FolderClaim(on: folder)
        } catch {
            switch error {
            case .taken: throw .stateTaken(folder: folder)
            case .unavailable(let failure):
                log.warning(
                    "state.unclaimed",
                    "\(folder) cannot be locked, so nothing keeps a second hostsd from it: \(failure)")
                return nil
            }
        }
    }

    /// Runs until a signal asks it to stop, or until the control socket fails.
    ///
    /// - Throws: What is wrong with the control socket.
    package func run() async throws(StartFailure) {
        log.info(
            "daemon.start", "hostsd \(Self.version) starts, configuration in \(paths.configuration)",
            .text("version", Self.version), .count("pid", Int(getpid())))
        await center.takeOver(boot: Self.bootID)
        await folder.readAll()
        await center.post(.daemonStarted, summary: "hostsd \(Self.version) has started")
        let failure = await withTaskGroup(of: Ending.self) { group in
            group.addTask { await serve().map { .serverFailed($0) } ?? .part }
            group.addTask {
                await obeySignals()
                return .stopAsked
            }
            for part in parts {
                group.addTask {
                    await part()
                    return .part
                }
            }
            var failure: HTTPServerError?
            waiting: for await ending in group {
                switch ending {
                case .part: continue
                case .stopAsked: break waiting
                case .serverFailed(let error):
                    failure = error
                    break waiting
                }
            }
            await stop()
            group.cancelAll()
            return failure
        }
        log.info("daemon.stop", "hostsd has stopped")
        if let failure { throw .server(failure) }
    }

    /// What the end of one task means for the daemon.
    private enum Ending: Sendable {
        /// Nothing: the part has no more to do.
        case part
        case stopAsked
        case serverFailed(HTTPServerError)
    }

    /// What runs until it is cancelled.
    private var parts: [@Sendable () async -> Void] {
        [
            { await hub.run() },
            { await handleEvents() },
            { await center.run() },
            { await watch.run() },
            { await keeper.run(reload: { await folder.readAll() }, changes: watch.changes) },
            { await sshConfig.run(onChange: { await hub.linkSettingsChanged() }) },
            { await tellStatus() },
            { await giveSignsOfLife() },
        ] + lifecycle.parts
    }

    private func handleEvents() async {
        for await event in hub.events {
            if case .mark(let mark) = event {
                lifecycle.marks.reached(mark)
            } else {
                await center.handle(event)
            }
        }
    }

    private func serve() async -> HTTPServerError? {
        do throws(HTTPServerError) {
            try await server.run()
            return nil
        } catch {
            log.critical("api.failed", error.message, .text("help", error.help))
            return error
        }
    }

    private func obeySignals() async {
        service.ready(status: await statusLine())
        for await signal in signals {
            switch signal {
            case .terminate, .interrupt:
                log.info("daemon.signal", "asked to stop", .text("signal", "\(signal)"))
                return
            case .reload:
                service.reloading(status: "Reading the configuration")
                await folder.readAll()
                service.ready(status: await statusLine())
            }
        }
    }

    private func stop() async {
        service.stopping(status: "Stopping")
        await center.post(.daemonStopping, summary: "hostsd is stopping")
        await center.drain(until: clock.now.advanced(by: Self.stopGrace))
        await center.handOver(boot: Self.bootID)
    }

    /// The boot of this machine (random(4)); empty where it cannot be read.
    private static let bootID: String = {
        let file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = unsafe read(file, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(count, 0)).filter { $0 > 0x20 }, as: UTF8.self)
    }()

    // MARK: The service manager

    private func tellStatus() async {
        var last = ""
        while !Task.isCancelled {
            let line = await statusLine()
            if line != last { service.status(line) }
            last = line
            do {
                try await clock.sleep(for: Self.statusInterval)
            } catch {
                return  // cancelled: the daemon stops
            }
        }
    }

    private func giveSignsOfLife() async {
        do throws(CancellationError) {
            try await service.keepAlive(
                clock: clock,
                isHealthy: {
                    _ = await hub.snapshots()
                    return true
                })
        } catch {
            return  // cancelled: the daemon stops
        }
    }

    private func statusLine() async -> String {
        let faults = await keeper.diagnostics.count { $0.severity == .error }
        return FleetSummary(await hub.snapshots()).statusLine(configurationErrors: faults)
    }

    // MARK: Places

    private static func findPaths(
        _ options: Options, _ environment: [String: String]
    ) throws(StartFailure) -> Paths {
        let chosen = PathOptions(
            configuration: options.configDirectory, state: options.stateDirectory, socket: options.socket)
        do throws(PathError) {
            let paths = try Paths.resolve(chosen, environment: environment, role: .daemon)
            try paths.createFolders()
            return paths
        } catch {
            throw .paths(error)
        }
    }
}
