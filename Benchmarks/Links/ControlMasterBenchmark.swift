import BenchReport
import Glibc
import HostsModel
import HostsTestSupport

/// The same look with `ssh -S`: a command over a connection that a master holds.
struct ControlMasterBenchmark {
    private static let looks = 200

    let server: LocalSSHD

    func run() async throws -> [Row] {
        let socket = server.folder.path("master")
        let options = ["-F", server.configFile, "-S", socket]
        let master = try BackgroundProcess(
            "ssh", options + ["-M", "-N", "-v", server.options.name], environment: Tool.environment)
        defer { master.stop() }
        try await master.log.until("Entering interactive session")
        let memory = Usage.privateBytes(of: master.pid)
        let start = Usage.children
        let clock = ContinuousClock.now
        for _ in 0..<Self.looks {
            try await Tool.run("ssh", options + [server.options.name, "echo 0123456789"])
        }
        let wall = (ContinuousClock.now - clock) / Self.looks
        let cpu = (Usage.children - start) / Self.looks
        return [
            Row("ssh -S: private memory of an idle host", String(format: Double(memory) / 1024, "KiB")),
            Row("ssh -S: client CPU of a look, without the master's", cpu.milliseconds),
            Row("ssh -S: wall time of a look", wall.milliseconds),
        ]
    }
}
