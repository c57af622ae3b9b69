import Glibc
import HostsSystem

// Ctrl-C ends the demo in good order: everything it has started is ended with it.
do {
    let signals = try ProcessSignals.catching()
    switch try await Demo.run(until: signals) {
    case .complete: exit(0)
    case .incomplete: exit(1)
    case .interrupted:
        print("\ninterrupted; everything that was started has been ended")
        exit(130)
    }
} catch {
    print("hostsd-demo: \(error)")
    exit(1)
}
