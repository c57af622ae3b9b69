package import HostsModel

/// A link over libssh2: one login, and one shell that serves every probe, or one exec channel per probe.
///
/// It lives on the event loop. Bytes move when the socket is ready; libssh2 is stepped by whoever waits for
/// an answer, or, between probes, as bytes come in, so that the server's own questions (keepalive, rekey) are
/// answered at once.
package actor SSHLink: ProbeLink {
    /// Read from a channel at one go, in bytes.
    static let chunkSize = 8 * 1024

    package nonisolated let token: Int
    nonisolated let loop: EventLoop
    nonisolated let session: SSHSession
    private nonisolated let currentSummary: Locked<LinkSummary>

    let program: ShellProgram
    let probeMode: LinkSettings.ProbeMode
    /// How requests reach the shell; `auto` may change it once.
    var mode = LinkSummary.Mode.persistent
    /// Whether the channel's end still has to come.
    var isChannelClosing = false
    /// Whether the server has run a shell for this login.
    var hasRunShell = false
    /// Bytes that the shell has printed since the last request was answered.
    var idleNoise = 0

    package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    package nonisolated var summary: LinkSummary { currentSummary.withLock { $0 } }

    /// Takes over a session that is logged in.
    ///
    /// - Parameters:
    ///   - session: Ends with the link.
    ///   - detail: How the host is reached, for people.
    ///   - token: The generation of the attempt.
    ///   - program: What the shell is given before the first request.
    ///   - probeMode: How requests reach the shell.
    init(
        session: SSHSession, detail: String, token: Int, program: ShellProgram,
        probeMode: LinkSettings.ProbeMode
    ) {
        self.session = session
        self.token = token
        self.program = program
        self.probeMode = probeMode
        loop = session.loop
        currentSummary = Locked(
            LinkSummary(
                kind: .libssh2, mode: .persistent, detail: detail, address: session.peerAddress))
    }

    // MARK: Life

    package func untilClosed() async -> LinkError { await session.untilClosed() }

    package nonisolated func close(_ reason: LinkError) {
        loop.execute { self.assumeIsolated { $0.session.finish(reason) } }
    }

    /// Has the session for itself while `body` runs; what the server says between two uses is looked at by
    /// `pumpIdle`.
    func busy<Value>(_ body: () async throws(LinkError) -> Value) async throws(LinkError) -> Value {
        precondition(!session.isBusy, "a link is used by one caller at a time")
        session.isBusy = true
        defer { session.isBusy = false }
        return try await body()
    }

    func describe(mode: LinkSummary.Mode, _ detail: String) {
        self.mode = mode
        currentSummary.withLock {
            $0 = LinkSummary(kind: .libssh2, mode: mode, detail: detail, address: $0.address)
        }
    }

    /// Answers the server while nobody waits.
    func pumpWhenIdle() {
        session.onReady = { [weak self] in
            guard let self else { return }
            assumeIsolated { $0.pumpIdle() }
        }
    }

    /// What comes while nobody waits: the channel's end, the server's questions, or the end of the
    /// connection.
    private func pumpIdle() {
        guard session.endingError == nil else { return }
        if isChannelClosing { _ = stepClosing() }
        if mode == .persistent, !isChannelClosing {
            var buffer = [UInt8](repeating: 0, count: Self.chunkSize)
            var isReading = true
            while isReading {
                switch session.handle.read(into: &buffer) {
                case .complete(.bytes(let count)):
                    idleNoise += count
                    guard idleNoise <= ShellReplyParser.noiseLimit.bytes else {
                        // Dialling again would end in the same way, with one login more each time.
                        return session.finish(
                            .noPOSIXShell(detail: "a program that a login file has started keeps printing"))
                    }
                case .complete(.end):
                    isReading = false
                    channelCutWhileIdle()
                case .wouldBlock: isReading = false
                case .failed(let failure): return session.finish(session.error(.probe, failure))
                }
            }
        }
        session.flushQueue()
        if session.hasPeerEnded { return session.finish(session.ended(.probe)) }
        if !session.handle.hasReceiveRoom {
            session.finish(.protocolFailure(.probe, code: 0, detail: "the server sends without being asked"))
        }
    }

    private func channelCutWhileIdle() {
        guard probeMode == .auto else {
            return session.finish(.closedByPeer(.probe, detail: "the server ended the shell"))
        }
        fallBackToExec()
    }

    /// One step of closing the channel; true when it is gone.
    func stepClosing() -> Bool {
        if case .wouldBlock = session.handle.closeChannel() { return false }
        // An error means that the session is dying, which the next step will tell.
        isChannelClosing = false
        return true
    }
}
