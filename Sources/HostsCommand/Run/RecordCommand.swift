import HostsAPI

/// `hostsctl add`, `remove` and `set`: what a person changes about the records of hosts.
struct RecordCommand {
    let client: DaemonClient
    let output: Output
    let console: any Console

    private static let word = "yes"

    /// Makes the record of a new host.
    func add(_ name: String, _ invocation: Invocation) throws(ClientError) -> ExitCode {
        var members: [String: RecordValueBody] = ["name": .text(name)]
        if invocation.operands.count > 1 { members["ssh"] = .text(invocation.operands[1]) }
        for (option, key) in [
            (OptionName.label, "label"), (.transport, "transport"), (.sessionRestore, "session_restore"),
        ] {
            if let value = invocation.values[option] { members[key] = .text(value) }
        }
        if invocation.values[.tag] != nil { members["tags"] = .words(invocation.words(.tag)) }
        if invocation.has(.disabled) { members["enabled"] = .flag(false) }
        if invocation.has(.backgroundKeepAlive) { members["background_keep_alive"] = .flag(true) }
        return try show(try client.body(of: .add(members)))
    }

    /// Writes keys into the override of a host, or takes them out.
    func set(_ name: String, _ invocation: Invocation) throws(ClientError) -> ExitCode {
        var members: [String: RecordValueBody] = [:]
        for setting in invocation.operands.dropFirst() {
            let key = setting.prefix { $0 != "=" }
            let value = setting.dropFirst(key.count + 1)
            members[String(key)] = value.isEmpty ? .null : .text(String(value))
        }
        for key in invocation.words(.unset) { members[key] = .null }
        return try show(try client.body(of: .set(name, members)))
    }

    /// Puts the files of a host aside, after a yes.
    ///
    /// - Parameters:
    ///   - name: The host.
    ///   - isConfirmed: Whether the command line has said yes.
    /// - Returns: Success for a host that is gone.
    /// - Throws: Why it is not.
    func remove(_ name: String, isConfirmed: Bool) throws(ClientError) -> ExitCode {
        if isConfirmed { return try remove(name) }
        // A name that is none, or a daemon that does not run, is told before the question.
        _ = try client.body(of: .host(name))
        guard console.canAsk else {
            output.report(
                "\(name): a host is removed only after a yes, and there is no terminal to ask on",
                hint: "hostsctl remove \(name) --yes")
            return .usage
        }
        let question =
            "Remove \(name)? Its files are kept under other names. Type \(Self.word) to remove it: "
        switch console.ask(question, isHidden: false) {
        case .line(let answer) where answer.withBytes({ $0.elementsEqual(Self.word.utf8) }):
            return try remove(name)
        case .line, .none, .tooLong:
            output.report("\(name): nothing was removed", hint: nil)
            return .failure
        case .failed(let detail):
            output.report("\(name): the terminal cannot be asked: \(detail)", hint: nil)
            return .failure
        }
    }

    private func remove(_ name: String) throws(ClientError) -> ExitCode {
        let body = try client.body(of: .remove(name))
        let document = try DaemonClient.decode(RemovalDocument.self, from: body)
        if output.isJSON {
            output.write(document: body)
        } else if !output.isQuiet {
            output.write([StyledText(foreign: document.message)])
        }
        return .success
    }

    private func show(_ body: [UInt8]) throws(ClientError) -> ExitCode {
        let document = try DaemonClient.decode(ActionDocument.self, from: body)
        if output.isJSON {
            output.write(document: body)
        } else {
            output.write(ActionPage(document: document, appearance: output.appearance).lines)
        }
        return .success
    }
}
