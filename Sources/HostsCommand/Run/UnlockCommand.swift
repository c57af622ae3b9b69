import HostsAPI

/// `hostsctl unlock HOST`: reads a passphrase and has hostsd open the host's keys with it.
struct UnlockCommand {
    /// How often a person may type.
    private static let attempts = 3

    let client: DaemonClient
    let output: Output
    let console: any Console

    func run(_ name: String) throws(ClientError) -> ExitCode {
        guard console.canAsk else { return try unlock(name, console.readLine(), isLast: true) ?? .failure }
        // Nobody types a passphrase for a host that is not there.
        _ = try client.body(of: .host(name))
        for attempt in 1...Self.attempts {
            let answer = console.ask("Passphrase for the keys of \(name): ", isHidden: true)
            if let code = try unlock(name, answer, isLast: attempt == Self.attempts) { return code }
        }
        return .notPermitted
    }

    /// Sends one passphrase, which is overwritten when this returns.
    ///
    /// - Parameters:
    ///   - name: The host.
    ///   - answer: What was typed or read.
    ///   - isLast: Whether a wrong one ends it.
    /// - Returns: The exit code; nil to ask again.
    /// - Throws: What stands against it, apart from a wrong passphrase that is not the last.
    private func unlock(
        _ name: String, _ answer: ConsoleAnswer, isLast: Bool
    ) throws(ClientError) -> ExitCode? {
        switch answer {
        case .line(let passphrase) where !passphrase.isEmpty:
            guard let body = PassphraseBody.encoded(passphrase) else {
                return fail(name, "the passphrase must be UTF-8", .failure)
            }
            do throws(ClientError) {
                let answer = try client.body(of: .unlock(name, body))
                try show(answer)
                return .success
            } catch {
                guard !isLast, case .refused(_, let document, _) = error,
                    document.error.code == "key.wrong-passphrase"
                else { throw error }
                return fail(name, ErrorWords(error).message, nil)
            }
        case .line, .none: return fail(name, "no passphrase was given", .failure)
        case .tooLong:
            return fail(name, "a passphrase has at most \(ConsoleAnswer.limit)", .failure)
        case .failed(let detail):
            return fail(name, "the passphrase cannot be read: \(detail)", .failure)
        }
    }

    private func fail(_ name: String, _ message: String, _ code: ExitCode?) -> ExitCode? {
        output.report("\(name): \(message)", hint: nil)
        return code
    }

    private func show(_ body: [UInt8]) throws(ClientError) {
        guard !output.isJSON else { return output.write(document: body) }
        let document = try DaemonClient.decode(UnlockDocument.self, from: body)
        output.write(UnlockPage(document: document, appearance: output.appearance).lines)
    }
}
