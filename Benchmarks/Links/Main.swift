import BenchReport
import HostsModel
import HostsTestSupport

/// What a link costs: memory of an idle host, CPU time and wake-ups of one look, beside `ssh -S` in the same run.
@main struct Main {
    static func main() async throws {
        let words = Array(CommandLine.arguments.dropFirst())
        guard let sizes = Sizes(words) else {
            print("usage: bench-links [HOSTS [LOOKS]]   (100 and 20000 unless given)")
            throw FixtureError("\(words) are no two whole numbers above 0")
        }
        let server = try await LocalSSHD()
        defer { server.stop() }
        var rows = try await LinkBenchmark(server: server, sizes: sizes).run()
        rows += try await ControlMasterBenchmark(server: server).run()
        Report(rows: rows).show()
    }
}

/// How much is measured.
struct Sizes {
    let hosts: Int
    let looks: Int

    init?(_ words: [String]) {
        let numbers = words.map(Int.init)
        guard words.count <= 2, numbers.allSatisfy({ $0 ?? 0 > 0 }) else { return nil }
        hosts = numbers.first.flatMap { $0 } ?? 100
        looks = numbers.dropFirst().first.flatMap { $0 } ?? 20_000
    }
}
