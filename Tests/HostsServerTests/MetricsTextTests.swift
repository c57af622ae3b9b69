import HostsAPI
import HostsModel
import Testing

@testable import HostsServer

@Suite struct MetricsTextTests {
    private func page() async throws -> String {
        let daemon = TestDaemon()
        return MetricsText.page(
            status: try await daemon.status(), hosts: try await daemon.hosts().hosts,
            sessions: TestDaemon.sessionViews)
    }

    @Test(arguments: [
        "hostsd_build_info{version=\"1.0\"} 1", "process_start_time_seconds 1796068800.123",
        "hostsd_hosts{condition=\"online\"} 1", "hostsd_hosts{condition=\"needsYou\"} 0",
        "hostsd_sessions{state=\"busy\"} 1", "hostsd_sessions{state=\"idle\"} 0",
        "hostsd_host_enabled{host=\"gpu\"} 0", "hostsd_host_up{host=\"devbox\"} 1",
        "hostsd_spool_messages{hook=\"desk\\\"top\"} 2", "hostsd_dead_letters{hook=\"desk\\\"top\"} 1",
        "hostsd_config_errors 1",
    ])
    func `the page has the figures`(line: String) async throws {
        let page = try await page()
        #expect(page.split(separator: "\n").contains(Substring(line)), "\(page)")
    }

    @Test func `every sample follows the help and the type of its own family`() async throws {
        var family = ""
        var hasType = false
        for line in try await page().split(separator: "\n") {
            let words = line.split(separator: " ")
            if line.hasPrefix("# HELP ") {
                family = String(words[2])
                hasType = false
            } else if line.hasPrefix("# TYPE ") {
                #expect(words[2] == family && words[3] == "gauge")
                hasType = true
            } else {
                #expect(hasType && line.prefix { $0 != "{" && $0 != " " } == family)
                #expect(line.split(separator: " ").last.flatMap { Double($0) } != nil)
            }
        }
    }
}
