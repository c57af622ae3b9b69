import FoundationEssentials
import HostsModel
import Testing

@testable import HostsConfig

/// The documents that people read say the same as the tables that the reader uses.
@Suite struct DocumentationTests {
    private static let root: String = {
        let parts = #filePath.split(separator: "/")
        return "/" + parts.dropLast(3).joined(separator: "/")
    }()

    private func text(_ name: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(filePath: Self.root + "/" + name)), as: UTF8.self)
    }

    private func rows<Root>(_ keys: [ConfigurationKey<Root>]) -> [String] {
        keys.map { key in
            let isText =
                key.defaultText.contains(" ") && !key.defaultText.hasPrefix("[")
                || key.defaultText == "required"
            let value = isText ? key.defaultText : "`\(key.defaultText)`"
            return "| `\(key.name)` | \(key.takes) | \(value) | \(key.meaning) |"
        }
    }

    @Test func `the reference has every key with its range and default`() throws {
        let document = try text("docs/configuration.md")
        let lines = Set(document.split(separator: "\n").map(String.init))
        for row in rows(RecordDraft.keys) + rows(Settings.keys) {
            #expect(lines.contains(row), "docs/configuration.md lacks this row")
        }
        let count = lines.filter { $0.hasPrefix("| `") }.count
        #expect(count == Set(rows(RecordDraft.keys) + rows(Settings.keys)).count, "a row has no key any more")
        for section in Set(Settings.keys.map(\.section)) { #expect(document.contains("### `[\(section)]`")) }
    }

    @Test func `the example of settings holds every key, and the defaults`() throws {
        let example = try text("Config/hostsd.toml")
        #expect(load(settings: example) == load())
        // A key of the example is commented out without a space; prose has one.
        let lines = example.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            line.hasPrefix("#") && !line.hasPrefix("# ") ? line.dropFirst() : line
        }
        let configuration = load(settings: lines.joined(separator: "\n"))
        #expect(configuration.diagnostics == [])
        #expect(Set(configuration.settingOrigins.keys) == Set(Settings.keys.map(\.path)))
        var settings = configuration.settings
        #expect(settings.ssh.program == "ssh")
        #expect(settings.log.levels.values.allSatisfy { $0 == settings.log.level })
        settings.ssh.program = nil
        settings.ssh.configFile = nil
        settings.log.levels = [:]
        #expect(settings == Settings())
    }

    @Test func `the examples of records are free of faults`() throws {
        let folder = "Config/hosts.d.example"
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.root + "/" + folder).map {
            name in
            hostFile(name, try text(folder + "/" + name))
        }
        let configuration = ConfigurationLoader.load(ConfigurationSnapshot(hosts: files))
        #expect(configuration.diagnostics == [])
        #expect(configuration.records.count == files.count)
        #expect(configuration.origins[HostID("devbox")]?.count == RecordDraft.keys.count)
    }
}
