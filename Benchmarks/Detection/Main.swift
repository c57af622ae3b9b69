import BenchReport
import HostsConfig
import HostsDetection
import HostsPOSIX
import HostsTestSupport

/// What it costs to know the states of agents: reading screens here, and one look at a host with ten agents there.
@main struct Main {
    static func main() async throws {
        let loaded = AgentRulesFolder.load(
            shipped: AgentRulesFolder.shipped(with: ProgramFile.path), own: nil)
        guard loaded.diagnostics.isEmpty else { throw FixtureError("\(loaded.diagnostics)") }
        var rows = ScreenBenchmark(book: loaded.book).run()
        rows += try await RemoteBenchmark(book: loaded.book).run()
        Report(rows: rows).show()
    }
}
