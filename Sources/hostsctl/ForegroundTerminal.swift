import CTerminal
import Glibc
import HostsCommand

/// The person's terminal, given to a program as a shell does it.
final class ForegroundTerminal: AttachTerminal {
    private var isPrepared = false

    func start(_ words: [String]) -> String? {
        if !isPrepared { hosts_job_prepare() }
        isPrepared = true
        let copies = words.map { strdup($0) } + [nil]
        defer { for copy in copies { free(copy) } }
        let code = hosts_job_start(copies)
        return code == 0 ? nil : String(cString: strerror(code))
    }

    func wait(milliseconds: Int32) -> JobEnd? {
        var status: Int32 = 0
        guard hosts_job_wait(milliseconds, &status) != 0 else { return nil }
        // As waitpid(2) has it; the macros are not imported.
        let signal = status & 0x7f
        return signal == 0 ? .exited((status >> 8) & 0xff) : .signalled(signal)
    }

    func pause(milliseconds: Int32) -> Bool { hosts_job_pause(milliseconds) != 0 }

    var endingSignal: Int32? {
        let number = hosts_job_signal()
        return number == 0 ? nil : number
    }

    var use: TerminalUse {
        switch hosts_job_terminal() {
        case 1: .raw
        case 2: .hiddenQuestion
        default: .other
        }
    }

    func discardInput() { hosts_job_discard_input() }

    var clocks: AttachClocks {
        // BOOTTIME first: what passes before the next is read can only look like too little growth.
        AttachClocks(boot: Self.seconds(CLOCK_BOOTTIME), monotonic: Self.seconds(CLOCK_MONOTONIC))
    }

    static func seconds(_ clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
