import FoundationEssentials
import Glibc
import HostsTestSupport
import Testing

/// The user unit that is shipped.
@Suite struct ServiceUnitTests {
    private static let analyze = "/usr/bin/systemd-analyze"
    private static let isThere = access(analyze, X_OK) == 0

    private func unit() throws -> String {
        let parts = #filePath.split(separator: "/")
        let root = "/" + parts.dropLast(3).joined(separator: "/")
        return String(
            decoding: try Data(contentsOf: URL(filePath: root + "/systemd/hostsd.service")), as: UTF8.self)
    }

    @Test func `the unit says what it must, and not what must not be there`() throws {
        let lines = Set(try unit().split(separator: "\n").map(String.init))
        for line in [
            "Type=notify", "Restart=on-failure", "WatchdogSec=120", "RestartPreventExitStatus=78",
            "RuntimeDirectoryMode=0700",
        ] {
            #expect(lines.contains(line))
        }
        let names = Set(
            lines.filter { !$0.hasPrefix("#") }.compactMap { $0.split(separator: "=").first.map(String.init) }
        )
        // Wrong place before systemd 254; no JIT; no ssh (facts in the unit's own comments).
        for name in [
            "StateDirectory", "LogsDirectory", "MemoryDenyWriteExecute", "PrivateTmp", "ProtectSystem",
            "ProtectHome",
            "PrivateUsers", "IPAddressDeny",
        ] {
            #expect(!names.contains(name))
        }
    }

    @Test(.enabled(if: ServiceUnitTests.isThere)) func `systemd finds nothing to say about the unit`() throws
    {
        let folder = try TemporaryFolder()
        let text = try unit().split(separator: "\n", omittingEmptySubsequences: false).map { line in
            // The programs are installed elsewhere, or not yet.
            line.hasPrefix("Exec") ? line.split(separator: "=")[0] + "=/bin/true" : String(line)
        }
        try folder.write("hostsd.service", text.joined(separator: "\n"))
        let path = folder.path + "/hostsd.service"
        let prefix = "XDG_RUNTIME_DIR=\(folder.path) \(Self.analyze)"
        let verified = system("\(prefix) --user verify \(path) >\(folder.path)/said 2>&1")
        let said = folder.path + "/said"
        let size = try FileManager.default.attributesOfItem(atPath: said)[.size] as? Int
        #expect(verified == 0)
        // Read only if there is something: Data(contentsOf:) leaks its buffer for an empty file (Swift 6.3.1).
        if size != 0 {
            let text = String(decoding: try Data(contentsOf: URL(filePath: said)), as: UTF8.self)
            Issue.record("\(text)")
        }
        let exposure = system("\(prefix) security --offline=true --threshold=65 \(path) >/dev/null 2>&1")
        #expect(exposure == 0)
    }
}
