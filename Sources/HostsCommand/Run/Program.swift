import HostsAPI

/// The whole of `hostsctl` but its surroundings.
package struct Program {
    /// The version of hostsctl; the daemon tells its own.
    private let version: String
    private let world: World
    private let table = CommandTable.standard

    /// Makes the program.
    ///
    /// - Parameters:
    ///   - version: The version of hostsctl.
    ///   - world: Everything it finds around it.
    package init(version: String, world: World) {
        self.version = version
        self.world = world
    }

    /// Runs one command line.
    ///
    /// - Parameter arguments: The words after the program's name.
    /// - Returns: What the process exits with.
    package func run(_ arguments: [String]) -> ExitCode {
        let output = Output(world: world)
        let code = run(arguments, output)
        guard output.isBroken else { return code }
        output.report("the output cannot be written", hint: nil)
        return .failure
    }

    private func run(_ arguments: [String], _ output: Output) -> ExitCode {
        let invocation: Invocation
        do throws(UsageError) {
            invocation = try CommandLineParser(table: table).parse(arguments)
        } catch {
            output.report(error.message, hint: error.hint)
            return .usage
        }
        output.take(invocation)
        switch invocation.verb {
        case .help: output.write(Help(table: table).page(on: invocation.operands.first))
        case .completion: output.write(invocation.operands.first.flatMap(Completion.script) ?? "")
        case .complete: complete(invocation.operands, output)
        case .explain where invocation.values[.screen] != nil:
            return ScreenCommand(world: world, output: output).run(invocation)
        case .explain, .add, .remove, .set, .list, .status, .show, .sessions, .events, .logs, .attach,
            .enable,
            .disable,
            .probe, .resume, .cancel, .check, .trust, .unlock, .hooks, .reload, .refresh, .debug, .version:
            return ask(invocation, output)
        }
        return .success
    }

    private func ask(_ invocation: Invocation, _ output: Output) -> ExitCode {
        let version = self.version
        do throws(ClientError) {
            let locator = SocketLocator(option: invocation.values[.socket], environment: world.environment)
            let socket = try locator.locate(exists: world.exists)
            if invocation.verb == .attach { return try attach(invocation, socket, output) }
            let transport = try world.makeTransport(socket)
            let runner = CommandRunner(
                invocation: invocation, version: version, transport: transport, output: output,
                console: world.console, pause: world.pause)
            return try runner.run()
        } catch {
            // The version of this program is worth showing when no daemon runs.
            if invocation.verb == .version, !invocation.has(.json), case .notRunning = error {
                output.write(["hostsctl \(version)", "hostsd is not running"].map { StyledText($0) })
                return .success
            }
            return output.report(error, about: nil)
        }
    }

    private func attach(
        _ invocation: Invocation, _ socket: String, _ output: Output
    ) throws(ClientError) -> ExitCode {
        let target = AttachTarget(invocation.operands.first ?? "")
        let command = AttachCommand(
            terminal: world.attach.terminal, window: world.attach.makeWindow(socket), output: output,
            shell: world.environment["SHELL"] ?? "/bin/sh",
            timeout: invocation.duration(.timeout) ?? ClientLimits().call)
        do throws(ClientError) {
            return try command.run(target)
        } catch {
            guard case .refused = error else { throw error }
            return output.report(error, about: target.host)
        }
    }

    private func complete(_ words: [String], _ output: Output) {
        let folder = words.firstIndex(of: "--config-dir").flatMap { words.dropFirst($0 + 1).first }
        let names = HostNames(world: world)
        let completion = Completion(table: table, hosts: { names.names(configurationDirectory: folder) })
        output.write(completion.candidates(for: words).map { StyledText($0) })
    }
}
