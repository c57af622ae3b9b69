import Foundation
import HostsAPI
import HostsModel
import HostsTestSupport
import Testing

@testable import HostsServer

@Suite struct OpenAPITests {
    /// A line of the file with its depth; the file is laid out so that no more of YAML is needed here.
    private struct Line {
        let depth: Int
        let text: String
    }

    private struct Operation {
        var method: String
        var path: String
        var query: Set<String> = []
        var schemas: Set<String> = []
        var takesBody = false
    }

    private static func lines() throws -> [Line] {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(contentsOf: root.appending(path: "docs/openapi.yaml"), encoding: .utf8)
        return text.split(separator: "\n").map { line in
            let depth = line.prefix { $0 == " " }.count
            return Line(depth: depth, text: String(line.dropFirst(depth)))
        }
    }

    private static func operations() throws -> [Operation] {
        var result: [Operation] = []
        var path = ""
        for line in try lines().drop(while: { $0.text != "paths:" }).prefix(while: {
            $0.text != "components:"
        }) {
            if line.depth == 2 {
                path = String(line.text.dropLast())
            } else if line.depth == 4, ["get:", "post:", "patch:", "delete:"].contains(line.text) {
                result.append(Operation(method: line.text.dropLast().uppercased(), path: path))
            } else if !result.isEmpty {
                if line.text == "requestBody:" { result[result.count - 1].takesBody = true }
                if let match = line.text.firstMatch(of: /\{name: ([a-z]+), in: query/) {
                    result[result.count - 1].query.insert(String(match.output.1))
                }
                for match in line.text.matches(of: /schemas\/([A-Za-z]+)"/) {
                    result[result.count - 1].schemas.insert(String(match.output.1))
                }
            }
        }
        return result
    }

    /// The members of each document of the file.
    private static func schemas() throws -> [String: Set<String>] {
        var result: [String: Set<String>] = [:]
        var name = ""
        for line in try lines().drop(while: { $0.text != "schemas:" || $0.depth != 2 }) {
            if line.depth == 4 { name = String(line.text.dropLast()) }
            if line.depth == 8, let colon = line.text.firstIndex(of: ":") {
                result[name, default: []].insert(String(line.text[..<colon]))
            }
        }
        return result
    }

    private static var routes: [Route] {
        Router(APIRoutes.all(of: TestDaemon(), version: VersionDocument(version: "1", pid: 1))).routes
    }

    @Test func `the file and the table have the same routes with the same parameters`() throws {
        let operations = try Self.operations()
        let described = Dictionary(
            operations.map { ("\($0.method) \($0.path)", $0.query) }, uniquingKeysWith: { first, _ in first })
        let real = Dictionary(
            Self.routes.map {
                ("\($0.method.rawValue) \($0.pattern.replacing("...", with: ""))", Set($0.parameters))
            }, uniquingKeysWith: { first, _ in first })
        #expect(operations.count == described.count)
        #expect(described == real)
    }

    @Test func `the file and the table have the same routes with a body`() throws {
        let described = try Self.operations().filter(\.takesBody).map { "\($0.method) \($0.path)" }
        let real = Self.routes.filter(\.takesBody).map { "\($0.method.rawValue) \($0.pattern)" }
        #expect(!real.isEmpty)
        #expect(Set(described) == Set(real))
    }

    @Test func `the file names the limits that hold`() throws {
        let text = try Self.lines().map(\.text).joined(separator: "\n")
        #expect(text.contains("maximum: \(APIRoutes.listLimit), default: \(APIRoutes.defaultEventLimit)}"))
        #expect(text.contains("maximum: \(APIRoutes.listLimit), default: \(APIRoutes.defaultLogLimit)}"))
        #expect(text.contains("Every \(StreamAnswer.heartbeatInterval.components.seconds) s it gives"))
        #expect(text.contains("falls \(StreamBody.byteLimit) behind"))
        #expect(text.contains("at most \(HTTPServer.streamLimit) streams"))
        #expect(text.contains("than \(HTTPRequest.bodyLimit)"))
        #expect(text.contains("within \(HTTPServer.requestDeadline.components.seconds) s"))
        #expect(text.contains(MetricsText.conditions.joined(separator: ", ")))
        #expect(text.contains(MetricsText.states.joined(separator: ", ")))
    }

    @Test func `every document has the members that the file says`() async throws {
        let time = APITime(FixedWallClock().now)
        let daemon = TestDaemon()
        let status = try await daemon.status()
        let hosts = try await daemon.hosts()
        let session = TestDaemon.sessionViews[0]
        let explanation = try await daemon.explain(SessionID(rawValue: session.id))
        let log = LogView(
            sequence: 1, time: time, category: "c", level: "l", event: "e", message: "m", fields: [:])
        let evidence = EvidenceView(kind: "k", strength: "weak", rule: "r")
        let clock = TurnClockView(
            side: "white", running: true, agentSeconds: 1, personSeconds: 1, outOfSyncSeconds: 0)
        let attach = AttachDocument(
            host: "h", session: nil, transport: "ssh", destination: "d", restore: "none", arguments: [],
            bootID: nil)
        let phase = PhaseDocument(phase: "active", hasRoute: true, awaitsPassphrase: false, bootID: nil)
        let error = ErrorDocument(code: "c", message: "m", help: nil)
        let documents: [String: any Encodable] = [
            "StatusDocument": status, "VersionDocument": VersionDocument(version: "1", pid: 1),
            "FleetSummary": status.summary, "HookView": status.hooks[0], "HookList": try await daemon.hooks(),
            "DiagnosticView": status.diagnostics[0], "ReloadDocument": try await daemon.reload(),
            "ActionDocument": try await daemon.enable("gpu"), "CheckDocument": try await daemon.check("gpu"),
            "TrustDocument": try await daemon.trust("gpu", fingerprint: nil),
            "HostKeyView": try await daemon.trust("gpu", fingerprint: nil).key,
            "RefreshDocument": try await daemon.refresh(),
            "DebugDocument": try await daemon.rehearse(isSleep: true),
            "RemovalDocument": RemovalDocument(host: "gpu", record: "r", override: nil, message: "m"),
            "UnlockDocument": UnlockDocument(host: "gpu", keys: []),
            "AttachDocument": attach, "PhaseDocument": phase,
            "ErrorDocument": error, "ErrorDetail": error.error, "HostView": hosts.hosts[0],
            "SessionCounts": SessionCounts(), "HostList": hosts, "HostDocument": try await daemon.host("gpu"),
            "RecordValue": RecordValue(key: "k", value: "v", origin: nil), "SessionView": session,
            "EvidenceView": evidence, "TurnClockView": clock, "SessionList": SessionList(sessions: [session]),
            "SessionDocument": SessionDocument(session: session),
            "ExplainDocument": explanation, "LookView": explanation.looks[0],
            "SignView": explanation.looks[0].evidence[0], "EventView": EventView.test("e"),
            "EventList": EventList(events: []), "LogView": log, "LogList": LogList(logs: []),
        ]
        let schemas = try Self.schemas()
        #expect(Set(documents.keys) == Set(schemas.keys))
        for (name, document) in documents {
            let object = try JSONSerialization.jsonObject(with: JSONEncoder().encode(document))
            let members = try #require(object as? [String: Any])
            #expect(Set(members.keys) == schemas[name], "\(name)")
        }
    }

    @Test func `what the file points at is there`() throws {
        let schemas = try Self.schemas()
        for operation in try Self.operations() {
            #expect(operation.schemas.allSatisfy { schemas[$0] != nil }, "\(operation.path)")
        }
    }
}
