import HostsCommand

// Ctrl-C and a reader that goes away end the program at once: it holds nothing that must be put in order.
Signals.install()
let world = SystemWorld.make()
exitProcess(Program(version: hostsctlVersion, world: world).run(Array(CommandLine.arguments.dropFirst())))
