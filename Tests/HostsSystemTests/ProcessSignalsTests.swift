import Glibc
import HostsSystem
import Testing

@Suite(.timeLimit(.minutes(5))) struct ProcessSignalsTests {
    @Test func `signals arrive in their order, and do not end the process`() async {
        await #expect(processExitsWith: .success) {
            var signals = try ProcessSignals.catching().makeAsyncIterator()
            for (number, signal) in [
                (SIGHUP, ProcessSignal.reload), (SIGINT, .interrupt), (SIGHUP, .reload),
                (SIGTERM, .terminate),
            ] {
                kill(getpid(), number)
                let received = await signals.next()
                precondition(received == signal)
            }
        }
    }

    @Test func `writing to a closed pipe is an error, not the end`() async {
        await #expect(processExitsWith: .success) {
            _ = try ProcessSignals.catching()
            var ends: [Int32] = [0, 0]
            precondition(pipe(&ends) == 0)
            close(ends[0])
            precondition(write(ends[1], "x", 1) == -1 && errno == EPIPE)
        }
    }

    @Test func `children start with the default handlers and no blocked signals`() async {
        await #expect(processExitsWith: .success) {
            _ = try ProcessSignals.catching()
            // The shell ends itself with each signal; 143 and 141 are 128 + SIGTERM and 128 + SIGPIPE.
            precondition(system("sh -c 'kill -TERM $$'; test $? = 143") == 0)
            precondition(system("sh -c 'kill -PIPE $$'; test $? = 141") == 0)
        }
    }

    @Test func `signals are caught once in a process`() async {
        await #expect(processExitsWith: .success) {
            _ = try ProcessSignals.catching()
            do throws(SystemFailure) {
                _ = try ProcessSignals.catching()
                preconditionFailure("caught twice")
            } catch {
                precondition(error == .call("catching signals", code: EALREADY))
            }
        }
    }
}
