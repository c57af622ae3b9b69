package import HostsDetection
import HostsModel

/// One rule file: TOML text to the rules of an agent.
package enum AgentRulesFile {
    /// Reads a rule file and compiles its patterns.
    ///
    /// - Returns: The rules, or nil when a diagnostic of severity `error` says why they cannot be used; with
    ///   every diagnostic, in the order of the file.
    package static func load(text: String, file: String) -> (AgentRules?, [Diagnostic]) {
        let (compiled, diagnostics) = compile(bytes: Array(text.utf8), file: file)
        return (compiled?.rules, diagnostics)
    }

    /// The same, with the compiled rules.
    package static func compile(bytes: [UInt8], file: String) -> (CompiledRules?, [Diagnostic]) {
        let document: TOMLDocument
        do throws(Diagnostic) {
            document = try TOMLDocument(parsing: bytes, file: file)
        } catch {
            return (nil, [error])
        }
        var decoder = AgentRulesDecoder(document)
        let rules = decoder.decode()
        guard let rules, !decoder.diagnostics.contains(where: { $0.severity == .error }) else {
            return (nil, decoder.diagnostics.sorted())
        }
        switch CompiledRules.compile(rules) {
        case .success(let compiled): return (compiled, decoder.diagnostics.sorted())
        case .failure(let problems):
            let found = problems.problems.map { Diagnostic.error(at: $0.location, $0.message) }
            return (nil, (decoder.diagnostics + found).sorted())
        }
    }
}
