package import HostsModel

extension SSHLink {
    /// How one exchange with a shell went.
    enum Exchange {
        case reply(ProbeReply)
        /// The shell or its channel ended without an answer; the text says what it printed instead.
        case cut(detail: String)
    }

    // MARK: Opening

    /// Starts the shell and has it answer once.
    ///
    /// - Throws: The caller then closes the link.
    func open(_ timeout: Duration) async throws(LinkError) {
        try await busy { () async throws(LinkError) in try await openShell(timeout) }
        pumpWhenIdle()
    }

    private func openShell(_ timeout: Duration) async throws(LinkError) {
        let deadline = ContinuousClock.now + timeout
        let detail = summary.detail
        let nonce = ShellProtocol.makeNonce()
        let check = ShellProtocol.checkLine(nonce: nonce)
        do throws(LinkError) {
            if probeMode != .exec {
                try await startShell(.shell, until: deadline, timeout: timeout)
                let greeting = ShellProtocol.definitions(program) + check
                let first = try await exchange(greeting, nonce, .shell, until: deadline, timeout: timeout)
                guard case .cut(let said) = first else { return }
                guard probeMode == .auto else { throw .noPOSIXShell(detail: said) }
                try await closeChannel(.shell, until: deadline, timeout: timeout)
            }
            let again = try await execute(check, nonce, .shell, until: deadline, timeout: timeout)
            if case .cut(let said) = again { throw .noPOSIXShell(detail: said) }
        } catch .badReply(let said) {
            throw .noPOSIXShell(detail: said)
        }
        describe(mode: .exec, detail + (probeMode == .auto ? Self.fallbackRemark : ""))
    }

    private static var fallbackRemark: String { ", one exec per probe as the server ends the shell" }

    /// From now on every probe has a channel of its own.
    func fallBackToExec() {
        isChannelClosing = true
        describe(mode: .exec, summary.detail + Self.fallbackRemark)
        _ = stepClosing()
    }

    // MARK: Probing

    package func probe(
        _ request: ProbeRequest, until deadline: ContinuousClock.Instant
    ) async throws(LinkError) -> ProbeReply {
        if let error = session.endingError { throw error }
        idleNoise = 0
        do {
            return try await withTaskExecutorPreference(loop.preference) { () async throws(LinkError) in
                try await busy { () async throws(LinkError) in try await answer(request, until: deadline) }
            }
        } catch {
            session.finish(error)
            throw error
        }
    }

    private func answer(
        _ request: ProbeRequest, until deadline: ContinuousClock.Instant
    ) async throws(LinkError) -> ProbeReply {
        let timeout = max(.zero, deadline - .now)
        let nonce = ShellProtocol.makeNonce()
        let line = ShellProtocol.line(request, nonce: nonce)
        guard line.count <= ShellProtocol.requestLimit.bytes else {
            throw .badReply(detail: "the request is longer than \(ShellProtocol.requestLimit)")
        }
        if mode == .persistent {
            let first = try await exchange(line, nonce, .probe, until: deadline, timeout: timeout)
            switch first {
            case .reply(let reply): return reply
            case .cut(let said):
                guard probeMode == .auto else { throw .closedByPeer(.probe, detail: said) }
                // Probes only read, so asking again is safe.
                fallBackToExec()
            }
        }
        switch try await execute(line, nonce, .probe, until: deadline, timeout: timeout) {
        case .reply(let reply): return reply
        case .cut(let said): throw .badReply(detail: said.isEmpty ? "the shell ended too early" : said)
        }
    }

    // MARK: Channels

    /// How long a server that refuses another shell is left alone, at first and at last.
    private static let shortestPause = Duration.milliseconds(20)
    private static let longestPause = Duration.milliseconds(640)

    /// Starts a shell on a channel of its own.
    ///
    /// A server that has run one shell for this login and refuses the next is asked again: OpenSSH's sshd closes a
    /// channel before it has reaped its shell, which counts towards `MaxSessions` until then (sshd_config(5)).
    private func startShell(
        _ stage: LinkError.Stage, until deadline: ContinuousClock.Instant, timeout: Duration
    ) async throws(LinkError) {
        var pause = Self.shortestPause
        while true {
            do throws(LinkError) {
                try await session.drive(stage, until: deadline, timeout: timeout) {
                    $0.openExec(ShellProtocol.command)
                }
                hasRunShell = true
                return
            } catch .channelRefused(let detail) where hasRunShell {
                let next = ContinuousClock.now + pause
                guard next < deadline else {
                    throw .closedByPeer(
                        stage, detail: "the server runs no second shell while one is open: \(detail)")
                }
                try await session.rest(stage, until: next)
                pause = min(pause * 2, Self.longestPause)
            }
        }
    }

    private func closeChannel(
        _ stage: LinkError.Stage, until deadline: ContinuousClock.Instant, timeout: Duration
    ) async throws(LinkError) {
        isChannelClosing = true
        while !stepClosing() {
            session.flushQueue()
            try await session.wait(stage, until: deadline, timeout: timeout)
        }
    }

    /// One request on a channel of its own.
    ///
    /// Its close is not waited for: the next channel does that.
    private func execute(
        _ line: [UInt8], _ nonce: String, _ stage: LinkError.Stage, until deadline: ContinuousClock.Instant,
        timeout: Duration
    ) async throws(LinkError) -> Exchange {
        if isChannelClosing { try await closeChannel(stage, until: deadline, timeout: timeout) }
        try await startShell(stage, until: deadline, timeout: timeout)
        let script = ShellProtocol.script(program, line)
        let result = try await exchange(script, nonce, stage, until: deadline, timeout: timeout)
        isChannelClosing = true
        _ = stepClosing()
        session.flushQueue()
        return result
    }

    /// Writes and then reads until the reply is whole.
    private func exchange(
        _ bytes: [UInt8], _ nonce: String, _ stage: LinkError.Stage, until deadline: ContinuousClock.Instant,
        timeout: Duration
    ) async throws(LinkError) -> Exchange {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = try await session.drive(stage, until: deadline, timeout: timeout) { $0.write(rest) }
            rest = rest.dropFirst(count)
        }
        var parser = ShellReplyParser(nonce: nonce)
        var buffer = [UInt8](repeating: 0, count: Self.chunkSize)
        while true {
            let chunk: SSHSessionHandle.Chunk
            do {
                chunk = try await session.drive(stage, until: deadline, timeout: timeout) {
                    $0.read(into: &buffer)
                }
            } catch .timedOut(.shell, _) where !parser.noise.isEmpty {
                // It talks, but it does not do what a POSIX shell does.
                throw .noPOSIXShell(detail: parser.noise)
            }
            guard case .bytes(let count) = chunk else { return .cut(detail: explanation(parser)) }
            switch parser.consume(buffer[..<count]) {
            case .incomplete: break
            case .complete(let reply): return .reply(reply)
            case .failed(let failure): throw .badReply(detail: failure.detail)
            }
        }
    }

    /// What a shell said before it ended, on either stream.
    private func explanation(_ parser: ShellReplyParser) -> String {
        parser.noise.isEmpty ? SafeText.visible(bytes: session.handle.standardErrorTail) : parser.noise
    }
}
