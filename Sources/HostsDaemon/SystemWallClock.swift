import Glibc
import HostsModel

/// Civil time of this machine.
struct SystemWallClock: WallClock {
    var now: WallTime {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return WallTime(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }
}
