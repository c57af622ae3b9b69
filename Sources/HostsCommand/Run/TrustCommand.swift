import HostsAPI

/// `hostsctl trust HOST`: shows the host's key, asks, and has it added to known_hosts.
struct TrustCommand {
    let client: DaemonClient
    let output: Output
    let console: any Console

    private static let word = "yes"

    /// Carries it out.
    ///
    /// - Parameters:
    ///   - name: The host.
    ///   - fingerprint: Of the key that the command line accepts; nil to ask.
    /// - Returns: Success for a key that is known now.
    /// - Throws: Why the key was not had or not added.
    func run(_ name: String, accepting fingerprint: String?) throws(ClientError) -> ExitCode {
        if let fingerprint { return try add(fingerprint, name) }
        let body = try client.body(of: .trust(name))
        let document = try DaemonClient.decode(TrustDocument.self, from: body)
        let page = TrustPage(document: document, appearance: output.appearance)
        if document.key.verdict == "known" {
            show(body, page)
            return .success
        }
        if let refusal = page.refusal {
            show(body, page)
            output.report(refusal.message, hint: refusal.hint)
            return .notPermitted
        }
        guard console.canAsk else {
            show(body, page)
            output.report(
                "\(name): the key is added only after a yes, and there is no terminal to ask on",
                hint: "compare the fingerprint with the host's own, then: hostsctl trust \(name) --yes "
                    + document.key.fingerprint)
            return .usage
        }
        let key = page.facts.map { $0.text + "\n" }.joined()
        let question = key + "Add this key? Type \(Self.word) to accept: "
        switch console.ask(question, isHidden: false) {
        case .line(let answer) where answer.withBytes({ $0.elementsEqual(Self.word.utf8) }):
            return try add(document.key.fingerprint, name)
        case .line, .none, .tooLong:
            output.report("\(name): the key was not added", hint: nil)
            return .failure
        case .failed(let detail):
            output.report("\(name): the terminal cannot be asked: \(detail)", hint: nil)
            return .failure
        }
    }

    private func add(_ fingerprint: String, _ name: String) throws(ClientError) -> ExitCode {
        let body = try client.body(of: .trust(name, fingerprint: fingerprint))
        let document = try DaemonClient.decode(TrustDocument.self, from: body)
        show(body, TrustPage(document: document, appearance: output.appearance))
        return .success
    }

    private func show(_ body: [UInt8], _ page: TrustPage) {
        if output.isJSON { output.write(document: body) } else { output.write(page.lines) }
    }
}
