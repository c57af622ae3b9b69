import Glibc
import HostsSystem

// Ctrl-C ends the demo in good order: everything it has started is ended with it.
do {
    let signals = try ProcessSignals.catching()
    let isComplete = try await Demo.run(until: signals)
    exit(isComplete ? 0 : 1)
} catch {
    print("hostsd-demo: \(error)")
    exit(1)
}
