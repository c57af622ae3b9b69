import Glibc

/// The address of a socket: the bytes that the kernel takes, and the text that people read.
struct SocketAddress: Hashable, Sendable {
    let family: Int32
    /// For example `127.0.0.1:22` or `[::1]:22`.
    let text: String
    private let bytes: [UInt8]

    /// Copies an address out of a list of the resolver.
    @safe init(family: Int32, text: String, copying address: UnsafePointer<sockaddr>, length: socklen_t) {
        self.family = family
        self.text = text
        bytes = unsafe Array(UnsafeRawBufferPointer(start: address, count: Int(length)))
    }

    /// The address of a Unix socket, or nil when the path is too long for one.
    init?(unixPath path: String) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let name = Array(path.utf8)
        let fits = unsafe withUnsafeMutableBytes(of: &address.sun_path) { place in
            // One byte stays for the NUL.
            guard name.count < place.count else { return false }
            unsafe place.copyBytes(from: name)
            return true
        }
        guard fits else { return nil }
        family = AF_UNIX
        text = path
        bytes = unsafe withUnsafeBytes(of: &address) { unsafe Array($0) }
    }

    /// Begins to connect; the answer is 0, or an errno value (EINPROGRESS: it goes on in the background).
    func connect(_ socket: Int32) -> Int32 {
        unsafe call(socket, Glibc.connect)
    }

    /// Sets the local end of a socket; the answer is 0, or an errno value.
    func bind(_ socket: Int32) -> Int32 {
        unsafe call(socket, Glibc.bind)
    }

    private func call(_ socket: Int32, _ body: (Int32, UnsafePointer<sockaddr>?, socklen_t) -> Int32) -> Int32
    {
        unsafe bytes.withUnsafeBytes { raw in
            let address = unsafe raw.baseAddress?.assumingMemoryBound(to: sockaddr.self)
            while true {
                if unsafe body(socket, address, socklen_t(raw.count)) == 0 { return 0 }
                if errno != EINTR { return errno }
            }
        }
    }
}

/// What the resolver says about a name.
enum NameLookup {
    /// Why there is no address.
    struct Failure: Error, Hashable, Sendable {
        let detail: String
    }

    /// All addresses of a name in the resolver's order (RFC 6724).
    ///
    /// Blocks, as long as the resolver likes.
    static func addresses(
        of host: String, port: UInt16, family: SSHConfiguration.AddressFamily
    ) -> Result<[SocketAddress], Failure> {
        let kind =
            switch family {
            case .any: AF_UNSPEC
            case .inet: AF_INET
            case .inet6: AF_INET6
            }
        var hints = unsafe addrinfo(
            ai_flags: AI_NUMERICSERV, ai_family: kind, ai_socktype: Int32(SOCK_STREAM.rawValue),
            ai_protocol: 0,
            ai_addrlen: 0, ai_addr: nil, ai_canonname: nil, ai_next: nil)
        var list: UnsafeMutablePointer<addrinfo>?
        let code = unsafe getaddrinfo(host, String(port), &hints, &list)
        guard code == 0 else {
            return .failure(Failure(detail: unsafe String(cString: gai_strerror(code))))
        }
        defer { unsafe freeaddrinfo(list) }
        var addresses: [SocketAddress] = []
        var next = unsafe list
        while let entry = unsafe next?.pointee {
            unsafe next = entry.ai_next
            guard let address = unsafe entry.ai_addr else { continue }
            let text = unsafe numericText(address, entry.ai_addrlen, port)
            unsafe addresses.append(
                SocketAddress(family: entry.ai_family, text: text, copying: address, length: entry.ai_addrlen)
            )
        }
        return .success(addresses)
    }

    /// The address without the port, of a text that `numericText` has made.
    static func host(of text: String) -> String? {
        guard let colon = text.lastIndex(of: ":"), text.first != "?" else { return nil }
        let host = text[..<colon]
        return host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : String(host)
    }

    private static func numericText(_ address: UnsafePointer<sockaddr>, _ length: socklen_t, _ port: UInt16)
        -> String
    {
        var host = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let code = unsafe getnameinfo(address, length, &host, socklen_t(host.count), nil, 0, NI_NUMERICHOST)
        guard code == 0 else { return "?:\(port)" }
        let text = String(decoding: host.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return text.contains(":") ? "[\(text)]:\(port)" : "\(text):\(port)"
    }
}
