import Glibc
import HostsDaemon
import HostsSystem

// Before any other thread runs: the environment must not change afterwards.
let service = ServiceManager.adopt()

/// Exit status of a wrong command line, as `hostsctl help exit-codes` lists them.
let usageStatus: Int32 = 2
/// EX_CONFIG (sysexits.h): running is impossible, and trying again is no help; see RestartPreventExitStatus in the unit.
let impossibleStatus: Int32 = 78

func complain(_ message: String) {
    let text = "hostsd: \(message)\n"
    // Nobody is left to be told when standard error cannot be written to.
    _ = text.withCString { write(STDERR_FILENO, $0, strlen($0)) }
}

do throws(Options.UsageError) {
    switch try Options.parse(Array(CommandLine.arguments.dropFirst())) {
    case .help: print(Options.help, terminator: "")
    case .version: print("hostsd \(Daemon.version)")
    case .run(let options):
        do throws(StartFailure) {
            try await Daemon(options, service: service).run()
        } catch {
            complain(error.message)
            exit(impossibleStatus)
        }
    }
} catch {
    complain(error.message)
    exit(usageStatus)
}
