import HostsAPI

/// Carries out the verbs that ask the daemon.
struct CommandRunner {
    /// How many old log lines come before the new ones.
    private static let followedLines = 10

    private let invocation: Invocation
    private let version: String
    private let client: DaemonClient
    private let output: Output
    private let console: any Console

    init(
        invocation: Invocation, version: String, transport: any DaemonTransport, output: Output,
        console: any Console, pause: @escaping (Duration) -> Void
    ) {
        self.invocation = invocation
        self.version = version
        self.output = output
        self.console = console
        let asked = invocation.duration(.timeout)
        let limits = ClientLimits()
        let timeout = asked ?? (Self.isLong(invocation.verb) ? limits.check : limits.call)
        client = DaemonClient(
            transport: transport, timeout: timeout,
            deadline: asked.map { ContinuousClock.now.advanced(by: $0) },
            pause: pause)
    }

    /// Whether the daemon waits for a host, or works on a key that may be made to take long.
    private static func isLong(_ verb: Verb) -> Bool {
        switch verb {
        case .check, .trust, .unlock, .refresh, .debug: true
        case .list, .status, .show, .sessions, .explain, .events, .logs, .attach, .enable, .disable, .probe,
            .resume,
            .cancel,
            .add, .remove, .set, .hooks, .reload, .help, .version, .completion, .complete:
            false
        }
    }

    /// Carries the command line out.
    ///
    /// - Throws: What ends the whole of it; errors about one of several hosts are reported and counted.
    func run() throws(ClientError) -> ExitCode {
        switch invocation.verb {
        case .list: try list()
        case .status: try status()
        case .show: try show()
        case .sessions: try sessions()
        case .explain: try explain()
        case .events: try events()
        case .logs: try logs()
        case .enable: forEachHost { name throws(ClientError) in try act(.enable, on: name) }
        case .disable: forEachHost { name throws(ClientError) in try act(.disable, on: name) }
        case .probe: forEachHost { name throws(ClientError) in try act(.probe, on: name) }
        case .resume: forEachHost { name throws(ClientError) in try act(.resume, on: name) }
        case .cancel: forEachHost { name throws(ClientError) in try act(.cancel, on: name) }
        case .check: forEachHost(check)
        case .trust: forEachHost(trust)
        case .unlock: forEachHost(unlock)
        case .add: try record { command, name throws(ClientError) in try command.add(name, invocation) }
        case .remove:
            try record { command, name throws(ClientError) in
                try command.remove(name, isConfirmed: invocation.has(.yes))
            }
        case .set: try record { command, name throws(ClientError) in try command.set(name, invocation) }
        case .hooks: try hooks()
        case .reload: try reload()
        case .refresh: try refresh(.refresh)
        case .debug: try debug()
        case .version: try versions()
        case .attach: preconditionFailure("it holds a window of its own")
        case .help, .completion, .complete: preconditionFailure("these verbs do not ask the daemon")
        }
    }

    // MARK: - Looking

    private func list() throws(ClientError) -> ExitCode {
        let body = try client.body(of: .hosts)
        if output.isJSON { return print(body) }
        let hosts = try DaemonClient.decode(HostList.self, from: body)
        let sessions = try client.document(SessionList.self, of: .sessions())
        output.write(FleetPage(hosts: hosts, sessions: sessions, appearance: output.appearance).lines)
        guard hosts.hosts.isEmpty, !output.isQuiet else { return .success }
        let folder = try client.document(StatusDocument.self, of: .status).configurationDirectory
        let hint = "hint: a file \(folder)/hosts.d/NAME.toml with the line ssh = \"NAME\" makes one"
        output.write([StyledText(foreign: hint)])
        return .success
    }

    private func status() throws(ClientError) -> ExitCode {
        guard let name = invocation.operands.first else {
            let body = try client.body(of: .status)
            if output.isJSON { return print(body) }
            let document = try DaemonClient.decode(StatusDocument.self, from: body)
            output.write(StatusPage(document: document, appearance: output.appearance).lines)
            return .success
        }
        return try about(name) { () throws(ClientError) in
            let body = try client.body(of: .host(name))
            let document = try DaemonClient.decode(HostDocument.self, from: body)
            let brief = HostBrief(document: document, appearance: output.appearance)
            if output.isJSON {
                output.write(document: body)
            } else if !output.isQuiet {
                output.write(brief.lines)
            }
            return brief.isOnline ? .success : .predicateFalse
        }
    }

    private func show() throws(ClientError) -> ExitCode {
        let name = invocation.operands.first ?? ""
        return try about(name) { () throws(ClientError) in
            // Only the id of a session has a slash.
            if name.contains("/") {
                if invocation.has(.watch) {
                    return try watch(.session(name)) { (document: SessionDocument, appearance) in
                        SessionPage(session: document.session, appearance: appearance).lines
                    }
                }
                let body = try client.body(of: .session(name))
                if output.isJSON { return print(body) }
                let document = try DaemonClient.decode(SessionDocument.self, from: body)
                output.write(SessionPage(session: document.session, appearance: output.appearance).lines)
            } else {
                if invocation.has(.watch) {
                    return try watch(.host(name)) { (document: HostDocument, appearance) in
                        HostPage(document: document, appearance: appearance).lines
                    }
                }
                let body = try client.body(of: .host(name))
                if output.isJSON { return print(body) }
                let document = try DaemonClient.decode(HostDocument.self, from: body)
                output.write(HostPage(document: document, appearance: output.appearance).lines)
            }
            return .success
        }
    }

    /// Shows a page now and whenever it has changed: on a terminal in place of the one before.
    private func watch<Document: Decodable>(
        _ request: APIRequest, page: (Document, Appearance) -> [StyledText]
    ) throws(ClientError) -> ExitCode {
        try follow(request) { body throws(ClientError) in
            let document = try DaemonClient.decode(Document.self, from: body)
            output.replace(page(document, output.appearance))
        }
    }

    private func sessions() throws(ClientError) -> ExitCode {
        let isUnknown = invocation.has(.unknown)
        let body = try client.body(of: .sessions(host: invocation.values[.host], isUnknown: isUnknown))
        if output.isJSON { return print(body) }
        let sessions = try DaemonClient.decode(SessionList.self, from: body).sessions
        let hosts = try client.document(HostList.self, of: .hosts).hosts
        let disabled = Set(hosts.filter { !$0.enabled }.map(\.name))
        let appearance = output.appearance
        let words = sessions.map {
            SessionWords(session: $0, isHistory: disabled.contains($0.host), appearance: appearance)
        }
        output.write(
            appearance.lines(isUnknown ? SessionWords.unknownTable(words) : SessionWords.table(words)))
        if words.isEmpty { output.notice(isUnknown ? "every session is understood" : "no agent sessions") }
        return .success
    }

    private func explain() throws(ClientError) -> ExitCode {
        let id = invocation.operands.first ?? ""
        return try about(id) { () throws(ClientError) in
            let body = try client.body(of: .explain(id))
            if output.isJSON { return print(body) }
            let document = try DaemonClient.decode(ExplainDocument.self, from: body)
            output.write(ExplainPage(document: document, appearance: output.appearance).lines)
            return .success
        }
    }

    private func hooks() throws(ClientError) -> ExitCode {
        let body = try client.body(of: .hooks)
        if output.isJSON { return print(body) }
        let document = try DaemonClient.decode(HookList.self, from: body)
        output.write(HooksPage(document: document, appearance: output.appearance).lines)
        return .success
    }

    private func versions() throws(ClientError) -> ExitCode {
        let body = try client.body(of: .version)
        if output.isJSON { return print(body) }
        let daemon = try DaemonClient.decode(VersionDocument.self, from: body).version
        output.write([StyledText("hostsctl \(version)"), StyledText(foreign: "hostsd \(daemon)")])
        if daemon != version { output.notice("the versions differ: restart hostsd to run the one installed") }
        return .success
    }

    // MARK: - Following

    private func events() throws(ClientError) -> ExitCode {
        let request = APIRequest.events(
            after: invocation.values[.after], limit: invocation.count(.limit), host: invocation.values[.host],
            kind: invocation.values[.kind])
        let appearance = output.appearance
        return try list(request, items: { (list: EventList) in list.events }, none: "no such events") {
            event in
            EventLine(event: event, appearance: appearance).line
        }
    }

    private func logs() throws(ClientError) -> ExitCode {
        let categories = invocation.values[.category]?.split(separator: ",").map(String.init) ?? []
        let request = APIRequest.logs(
            categories: categories, level: invocation.values[.level] ?? "info",
            host: invocation.values[.host],
            limit: invocation.count(.limit) ?? (invocation.has(.follow) ? Self.followedLines : nil))
        let appearance = output.appearance
        return try list(request, items: { (list: LogList) in list.logs }, none: "no such log lines") { log in
            LogLine(log: log, appearance: appearance).line
        }
    }

    /// Prints what a request lists, one line each, or with `-f` what comes, too.
    ///
    /// - Parameters:
    ///   - request: For a list; its stream has one item in each line.
    ///   - items: What the list holds.
    ///   - none: Said when it holds nothing.
    ///   - line: One item for people.
    /// - Returns: Success.
    /// - Throws: Why it cannot be had, or why the stream has ended.
    private func list<Document: Decodable, Item: Decodable>(
        _ request: APIRequest, items: (Document) -> [Item], none: String, line: (Item) -> StyledText
    ) throws(ClientError) -> ExitCode {
        guard !invocation.has(.follow) else {
            return try follow(request) { body throws(ClientError) in
                output.write([line(try DaemonClient.decode(Item.self, from: body))])
            }
        }
        let body = try client.body(of: request)
        if output.isJSON { return print(body) }
        let found = items(try DaemonClient.decode(Document.self, from: body))
        output.write(found.map(line))
        if found.isEmpty { output.notice(none) }
        return .success
    }

    private func follow(
        _ request: APIRequest, show: ([UInt8]) throws(ClientError) -> Void
    ) throws(ClientError) -> ExitCode {
        try client.follow(
            request,
            notice: { notice in
                switch notice {
                case .lost(let error): output.notice(ErrorWords(error).message + "; trying again")
                case .back: output.notice("hostsd is back")
                }
            },
            line: { body throws(ClientError) in
                if output.isJSON {
                    output.write(document: body)
                } else {
                    try show(body)
                }
                return !output.isBroken
            })
        return .success
    }

    // MARK: - Acting

    private func act(_ action: APIRequest.HostAction, on name: String) throws(ClientError) -> ExitCode {
        let body = try client.body(of: .act(action, on: name))
        if output.isJSON { return print(body) }
        let document = try DaemonClient.decode(ActionDocument.self, from: body)
        output.write(ActionPage(document: document, appearance: output.appearance).lines)
        return .success
    }

    private func check(_ name: String) throws(ClientError) -> ExitCode {
        let body = try client.body(of: .act(.check, on: name))
        let document = try DaemonClient.decode(CheckDocument.self, from: body)
        if output.isJSON {
            output.write(document: body)
        } else {
            output.write(CheckPage(document: document, appearance: output.appearance).lines)
        }
        return document.passed ? .success : .failure
    }

    private func trust(_ name: String) throws(ClientError) -> ExitCode {
        try TrustCommand(client: client, output: output, console: console)
            .run(name, accepting: invocation.values[.yes])
    }

    private func unlock(_ name: String) throws(ClientError) -> ExitCode {
        try UnlockCommand(client: client, output: output, console: console).run(name)
    }

    private func refresh(_ request: APIRequest) throws(ClientError) -> ExitCode {
        let body = try client.body(of: request)
        if output.isJSON { return print(body) }
        output.notice(try DaemonClient.decode(RefreshDocument.self, from: body).message)
        return .success
    }

    private func debug() throws(ClientError) -> ExitCode {
        let host = invocation.operands.dropFirst().first
        switch invocation.operands.first.flatMap(DebugAction.init) {
        case .refresh: return try refresh(.debug(.refresh))
        case .keepalive:
            let body = try client.body(of: .debug(.keepalive, host: host))
            if output.isJSON { return print(body) }
            output.notice(try DaemonClient.decode(ActionDocument.self, from: body).message)
        case .sleep: return try rehearse(.sleep)
        case .wake: return try rehearse(.wake)
        case nil: preconditionFailure("the parser has checked the word")
        }
        return .success
    }

    private func rehearse(_ action: DebugAction) throws(ClientError) -> ExitCode {
        let body = try client.body(of: .debug(action))
        if output.isJSON { return print(body) }
        output.notice(try DaemonClient.decode(DebugDocument.self, from: body).message)
        return .success
    }

    private func record(
        _ body: (RecordCommand, String) throws(ClientError) -> ExitCode
    ) throws(ClientError) -> ExitCode {
        let command = RecordCommand(client: client, output: output, console: console)
        let name = invocation.operands.first ?? ""
        return try about(name) { () throws(ClientError) in try body(command, name) }
    }

    private func reload() throws(ClientError) -> ExitCode {
        let body = try client.body(of: .reload)
        let page = ReloadPage(
            document: try DaemonClient.decode(ReloadDocument.self, from: body), appearance: output.appearance)
        if output.isJSON {
            output.write(document: body)
        } else {
            output.write(page.lines)
        }
        return page.hasErrors ? .badConfiguration : .success
    }

    /// Goes through the hosts of the command line; one that fails does not spare the others.
    ///
    /// - Returns: The first code that is not success.
    private func forEachHost(_ body: (String) throws(ClientError) -> ExitCode) -> ExitCode {
        var result = ExitCode.success
        for name in invocation.operands {
            let code: ExitCode
            do throws(ClientError) {
                code = try body(name)
            } catch {
                code = report(error, about: name)
            }
            if result == .success { result = code }
        }
        return result
    }

    private func about(_ name: String, _ body: () throws(ClientError) -> ExitCode) throws(ClientError)
        -> ExitCode
    {
        do throws(ClientError) {
            return try body()
        } catch {
            return report(error, about: name)
        }
    }

    /// Names the host only where the error is about it and not about the daemon.
    private func report(_ error: ClientError, about name: String) -> ExitCode {
        if case .refused = error { return output.report(error, about: name) }
        return output.report(error, about: nil)
    }

    private func print(_ body: [UInt8]) -> ExitCode {
        output.write(document: body)
        return .success
    }
}
