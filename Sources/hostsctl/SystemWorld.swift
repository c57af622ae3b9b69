import CTerminal
import Glibc
import HostsAPI
import HostsCommand
import HostsConfig
import HostsModel
import HostsPOSIX

/// The version of this program.
let hostsctlVersion = "0.1.0"

/// Brings the program the real surroundings.
enum SystemWorld {
    static func make() -> World {
        World(
            environment: environment(), outputIsTerminal: isatty(STDOUT_FILENO) == 1,
            errorIsTerminal: isatty(STDERR_FILENO) == 1,
            terminalColumns: Int(hosts_terminal_columns(STDOUT_FILENO)), localTime: LocalTime(offset: offset),
            now: now, exists: { access($0, F_OK) == 0 }, fileNames: fileNames,
            shippedRules: AgentRulesFolder.shipped(with: ProgramFile.path), readCapture: readCapture,
            makeTransport: { socket throws(ClientError) in
                try CurlTransport(socket: socket, userAgent: "hostsctl/" + hostsctlVersion)
            },
            pause: pause, console: SystemConsole(),
            attach: AttachParts(terminal: ForegroundTerminal(), makeWindow: { StreamedWindow(socket: $0) }))
    }

    private static func environment() -> [String: String] {
        var result: [String: String] = [:]
        var entry = environ
        while let line = entry.pointee {
            let text = String(cString: line)
            if let equals = text.firstIndex(of: "=") {
                result[String(text[..<equals])] = String(text[text.index(after: equals)...])
            }
            entry += 1
        }
        return result
    }

    private static func now() -> WallTime {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return WallTime(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }

    /// Seconds that local time is ahead of UTC, by the rules of `TZ` or /etc/localtime.
    @Sendable private static func offset(_ time: WallTime) -> Int {
        var seconds = time_t(time.milliseconds / 1000)
        var parts = tm()
        return localtime_r(&seconds, &parts) == nil ? 0 : parts.tm_gmtoff
    }

    private static func fileNames(in folder: String) -> [String] {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            names.append(
                withUnsafePointer(to: &entry.pointee.d_name) { name in
                    name.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                })
        }
        return names
    }

    private static func readCapture(_ path: String) throws(CaptureFailure) -> [UInt8] {
        let descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw CaptureFailure(String(cString: strerror(errno))) }
        defer { if descriptor != STDIN_FILENO { close(descriptor) } }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw CaptureFailure(String(cString: strerror(errno))) }
            guard count > 0 else { return bytes }
            bytes += buffer[..<count]
            guard bytes.count <= CaptureFailure.limit.bytes else {
                throw CaptureFailure("a capture has at most \(CaptureFailure.limit)")
            }
        }
    }

    static func pause(_ duration: Duration) {
        let parts = duration.components
        var wanted = timespec(tv_sec: Int(parts.seconds), tv_nsec: Int(parts.attoseconds / 1_000_000_000))
        var left = timespec()
        while nanosleep(&wanted, &left) != 0, errno == EINTR { wanted = left }
    }
}
