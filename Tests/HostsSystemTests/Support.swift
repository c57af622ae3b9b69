import HostsLog
import HostsTestSupport

func quietLog() -> Log {
    LogCenter(sinks: [], clock: FixedWallClock()).log(.config)
}
