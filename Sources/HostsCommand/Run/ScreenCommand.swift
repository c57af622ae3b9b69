import FoundationEssentials
import HostsAPI
import HostsConfig
import HostsDetection
package import HostsModel

/// `hostsctl explain --screen FILE --agent NAME`: the rules on a capture, without a daemon.
struct ScreenCommand {
    let world: World
    let output: Output

    /// Reads the capture and says what the rules see.
    func run(_ invocation: Invocation) -> ExitCode {
        guard let path = invocation.values[.screen], let agent = invocation.values[.agent] else {
            preconditionFailure("the parser has checked that both are there")
        }
        let loaded = AgentRulesFolder.load(
            shipped: world.shippedRules,
            own: ConfigurationFolder(world: world).path(option: invocation.values[.configDirectory])
                .map { $0 + "/agents.d" })
        guard let rules = loaded.book[AgentName(rawValue: agent)] else {
            return refuse(agent, loaded)
        }
        let capture: [UInt8]
        do throws(CaptureFailure) {
            capture = try world.readCapture(path)
        } catch {
            output.report("\(path): \(error.message)", hint: "tmux capture-pane -p > FILE makes one")
            return .failure
        }
        let title = invocation.values[.title] ?? ""
        let document = ScreenDocument(
            ScreenClassifier(rules).read(Screen(capture: capture, title: title)))
        guard output.isJSON else {
            output.write(ScreenPage(document: document, appearance: output.appearance).lines)
            return .success
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let json = try? encoder.encode(document) else {
            preconditionFailure("texts and finite numbers can always be encoded")
        }
        output.write(document: Array(json))
        return .success
    }

    /// There are no rules of that name: they are wrong, or nobody has written any.
    private func refuse(_ agent: String, _ loaded: AgentRulesFolder.Loaded) -> ExitCode {
        let faults = loaded.diagnostics.filter {
            $0.severity == .error && $0.location.file.hasSuffix("/\(agent).toml")
        }
        for fault in faults { output.report("\(fault.location): \(fault.text)", hint: nil) }
        guard faults.isEmpty else { return .badConfiguration }
        let known = loaded.book.agents.map(\.rules.name.rawValue)
        let nearest = Suggestion.nearest(to: agent, among: known)
        output.report(
            "there are no rules for \"\(agent)\"",
            hint: nearest.map { "did you mean \($0)?" }
                ?? "there are rules for: \(known.joined(separator: ", "))")
        return .notFound
    }
}

/// Why a capture cannot be read.
package struct CaptureFailure: Error, Hashable, Sendable {
    /// Most bytes of a capture: more than any terminal shows.
    package static let limit = ByteCount.mebibytes(1)

    package let message: String

    package init(_ message: String) {
        self.message = message
    }
}

extension ScreenDocument {
    /// Tells a reading in the words of the wire.
    init(_ reading: ScreenReading) {
        // A screen that no rule knows is unknown; a viewer says nothing at all.
        let state = reading.meaning.map(\.state) ?? AgentState.unknown
        self.init(
            state: state?.word ?? "previous", reason: state?.reason?.rawValue,
            flags: reading.flags.sorted().map(\.rawValue),
            evidence: reading.signs(age: .zero).map { SignView($0) })
    }
}
