import CSSH
import Glibc
import HostsModel

/// How far a step of a conversation has come.
enum Attempt<Value> {
    case complete(Value)
    /// The peer has to say something first; then the same step is made again.
    case wouldBlock
    case failed(FailureClassifier.Failure)
}

/// One libssh2 session and its socket; the one owner of both.
///
/// Used on the event loop only. `close` ends it, after which every step fails; `deinit` closes it as a
/// backstop.
@safe struct SSHSessionHandle: ~Copyable {
    /// What came of reading the socket.
    enum Fill: Hashable {
        case received, nothing, ended
        case failed(Int32)
    }

    /// What came of writing the send queue.
    enum Flush: Hashable {
        case done, pending
        case failed(Int32)
    }

    /// What came of reading the channel.
    enum Chunk: Hashable {
        case bytes(Int)
        case end
    }

    private let raw: OpaquePointer
    /// For the event loop; invalid after `close`.
    let descriptor: Int32

    /// Takes over a connected socket; nil when there is no memory.
    init?(socket: consuming SocketDescriptor) {
        let descriptor = socket.raw
        guard let raw = unsafe hosts_ssh_create(descriptor) else { return nil }
        // The C side has taken it over.
        _ = socket.take()
        unsafe self.raw = raw
        self.descriptor = descriptor
    }

    deinit { unsafe hosts_ssh_free(raw) }

    /// Shuts the socket down, frees libssh2's session, closes the socket; the second time nothing.
    borrowing func close() { unsafe hosts_ssh_close(raw) }

    // MARK: Bytes

    borrowing func fill() -> Fill {
        switch unsafe hosts_ssh_fill(raw) {
        case 1: .received
        case Int32(HOSTS_SSH_AGAIN): .nothing
        case Int32(HOSTS_SSH_EOF): .ended
        default: .failed(errno)
        }
    }

    borrowing func flush() -> Flush {
        switch unsafe hosts_ssh_flush(raw) {
        case 0: .done
        case Int32(HOSTS_SSH_AGAIN): .pending
        default: .failed(errno)
        }
    }

    var hasReceiveRoom: Bool { unsafe hosts_ssh_receive_room(raw) > 0 }
    var hasBacklog: Bool { unsafe hosts_ssh_send_backlog(raw) > 0 }
    /// The libssh2 that runs, such as `1.10.0`.
    static var libraryVersion: String {
        let version = hosts_ssh_library_version()
        return "\(version >> 16).\(version >> 8 & 255).\(version & 255)"
    }
    /// Bytes that wait for the socket.
    var backlog: Int { unsafe hosts_ssh_send_backlog(raw) }
    /// Bytes that libssh2 holds.
    var memory: Int { unsafe hosts_ssh_memory(raw) }

    // MARK: Handshake

    /// Sets what is negotiated; before the handshake.
    borrowing func prefer(_ preferences: MethodPreferences) -> Attempt<Void> {
        // 1.11.0 forgets ext-info-c, and with it RSA with SHA-2, unless it is named; later versions add it
        // (libssh2#1327).
        let isForgetful = hosts_ssh_library_version() == 0x010b00
        let keyExchange = MethodPreferences.keyExchange + (isForgetful ? ["ext-info-c"] : [])
        let lists = [
            (HOSTS_SSH_KEX, keyExchange), (HOSTS_SSH_HOST_KEY, preferences.hostKeyOrder),
            (HOSTS_SSH_CIPHER, MethodPreferences.ciphers), (HOSTS_SSH_MAC, MethodPreferences.macs),
        ]
        for (method, names) in lists {
            let code = unsafe hosts_ssh_prefer(raw, method, known(method, names).joined(separator: ","))
            if code != 0 { return .failed(failure(code)) }
        }
        return .complete(())
    }

    /// The names of `preferences` that this libssh2 knows, and so has offered.
    borrowing func offered(_ preferences: MethodPreferences) -> ServerHello.Algorithms {
        ServerHello.Algorithms(
            keyExchange: known(HOSTS_SSH_KEX, MethodPreferences.keyExchange),
            hostKeys: known(HOSTS_SSH_HOST_KEY, preferences.hostKeyOrder),
            ciphers: known(HOSTS_SSH_CIPHER, MethodPreferences.ciphers),
            macs: known(HOSTS_SSH_MAC, MethodPreferences.macs))
    }

    /// The names that this libssh2 knows.
    ///
    /// It would drop the others by itself, with a memcpy whose ranges overlap (1.10.0,
    /// libssh2_session_method_pref; found by AddressSanitizer).
    private borrowing func known(_ method: hosts_ssh_method, _ names: [String]) -> [String] {
        names.filter { unsafe hosts_ssh_supports(raw, method, $0) != 0 }
    }

    borrowing func handshake() -> Attempt<Void> { attempt(unsafe hosts_ssh_handshake(raw)) }

    /// The server's key, after the handshake.
    var hostKey: PublicKey? {
        var size = 0
        guard let bytes = unsafe hosts_ssh_host_key(raw, &size) else { return nil }
        return PublicKey(blob: unsafe Array(UnsafeBufferPointer(start: bytes, count: size)))
    }

    /// The first bytes from the server.
    var head: [UInt8] {
        var size = 0
        guard let bytes = unsafe hosts_ssh_head(raw, &size) else { return [] }
        return unsafe Array(UnsafeBufferPointer(start: bytes, count: size))
    }

    /// Whether more may have come than `head` keeps.
    var isHeadFull: Bool {
        var size = 0
        _ = unsafe hosts_ssh_head(raw, &size)
        return size == Int(HOSTS_SSH_HEAD_LIMIT)
    }

    borrowing func forgetHead() { unsafe hosts_ssh_forget_head(raw) }

    // MARK: Authentication

    /// Offers a key and proves it; without `key` the proof is asked for by `signRequest`.
    borrowing func authenticate(user: String, blob: [UInt8], key: PrivateKey?) -> Attempt<Void> {
        attempt(unsafe hosts_ssh_authenticate(raw, user, blob, blob.count, key?.raw))
    }

    /// The data that waits for `answer(signature:)`, if any.
    var signRequest: [UInt8]? {
        var size = 0
        guard let bytes = unsafe hosts_ssh_sign_request(raw, &size) else { return nil }
        return unsafe Array(UnsafeBufferPointer(start: bytes, count: size))
    }

    /// Gives the bare signature, or nil where nobody signs.
    borrowing func answer(signature: [UInt8]?) {
        let bytes = signature ?? []
        unsafe hosts_ssh_sign_answer(raw, bytes, bytes.count)
    }

    /// The methods that may go on, such as `publickey,password`.
    borrowing func listMethods(user: String) -> Attempt<String> {
        var methods: UnsafePointer<CChar>?
        let code = unsafe hosts_ssh_list_methods(raw, user, &methods)
        guard code == 0, let methods = unsafe methods else {
            return code == Int32(HOSTS_SSH_AGAIN) ? .wouldBlock : .failed(failure(code))
        }
        return .complete(unsafe String(cString: methods))
    }

    // MARK: Channel

    borrowing func openExec(_ command: String) -> Attempt<Void> {
        attempt(unsafe hosts_ssh_open_exec(raw, command))
    }

    borrowing func write(_ bytes: ArraySlice<UInt8>) -> Attempt<Int> {
        let count = unsafe bytes.withUnsafeBufferPointer {
            unsafe hosts_ssh_write(raw, $0.baseAddress, $0.count)
        }
        if count == Int(HOSTS_SSH_AGAIN) { return .wouldBlock }
        return count > 0 ? .complete(count) : .failed(failure(Int32(count)))
    }

    /// Reads standard output; standard error is drained on the way.
    borrowing func read(into buffer: inout [UInt8]) -> Attempt<Chunk> {
        let count = unsafe hosts_ssh_read(raw, &buffer, buffer.count)
        if count > 0 { return .complete(.bytes(count)) }
        if count == Int(HOSTS_SSH_AGAIN) { return .wouldBlock }
        if count == Int(HOSTS_SSH_EOF) { return .complete(.end) }
        return .failed(failure(Int32(count)))
    }

    borrowing func closeChannel() -> Attempt<Void> { attempt(unsafe hosts_ssh_close_channel(raw)) }

    // MARK: Tunnels

    /// A channel to a port behind the server; ends with `closeTunnel`, or with the session.
    @safe struct Tunnel: @unchecked Sendable {
        fileprivate let raw: OpaquePointer
    }

    /// One opening at a time: a second one would continue the first (libssh2#671).
    borrowing func openTunnel(_ host: String, _ port: UInt16) -> Attempt<Tunnel> {
        var tunnel: OpaquePointer?
        let code = unsafe hosts_ssh_open_tunnel(raw, host, port, &tunnel)
        if let tunnel = unsafe tunnel { return .complete(unsafe Tunnel(raw: tunnel)) }
        return code == Int32(HOSTS_SSH_AGAIN) ? .wouldBlock : .failed(failure(code))
    }

    borrowing func write(_ bytes: ArraySlice<UInt8>, to tunnel: Tunnel) -> Attempt<Int> {
        let count = unsafe bytes.withUnsafeBufferPointer {
            unsafe hosts_ssh_tunnel_write(raw, tunnel.raw, $0.baseAddress, $0.count)
        }
        if count == Int(HOSTS_SSH_AGAIN) { return .wouldBlock }
        return count > 0 ? .complete(count) : .failed(failure(Int32(count)))
    }

    borrowing func read(_ tunnel: Tunnel, into buffer: inout [UInt8]) -> Attempt<Chunk> {
        let count = unsafe hosts_ssh_tunnel_read(raw, tunnel.raw, &buffer, buffer.count)
        if count > 0 { return .complete(.bytes(count)) }
        if count == Int(HOSTS_SSH_AGAIN) { return .wouldBlock }
        if count == Int(HOSTS_SSH_EOF) { return .complete(.end) }
        return .failed(failure(Int32(count)))
    }

    borrowing func closeTunnel(_ tunnel: Tunnel) -> Attempt<Void> {
        attempt(unsafe hosts_ssh_close_tunnel(raw, tunnel.raw))
    }

    /// The last bytes that came on standard error.
    var standardErrorTail: [UInt8] {
        var tail = [UInt8](repeating: 0, count: Int(HOSTS_SSH_STDERR_LIMIT))
        let count = unsafe hosts_ssh_stderr_tail(raw, &tail)
        return Array(tail.prefix(count))
    }

    private borrowing func attempt(_ code: Int32) -> Attempt<Void> {
        switch code {
        case 0: .complete(())
        case Int32(HOSTS_SSH_AGAIN): .wouldBlock
        default: .failed(failure(code))
        }
    }

    private borrowing func failure(_ code: Int32) -> FailureClassifier.Failure {
        FailureClassifier.Failure(code: code, text: unsafe String(cString: hosts_ssh_error_text(raw)))
    }
}
