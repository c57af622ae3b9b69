import HostsModel

/// What a server said in clear text: lines, its identification, and the lists of its KEXINIT (RFC 4253
/// sections 4.2 and 7.1).
///
/// Read from the first few KiB; whatever is cut off is nil.
struct ServerHello: Hashable, Sendable {
    /// The algorithm lists that libssh2 negotiates, in the order of KEXINIT.
    struct Algorithms: Hashable, Sendable {
        let keyExchange: [String]
        let hostKeys: [String]
        let ciphers: [String]
        let macs: [String]
    }

    /// The first line that is not empty, made visible; nil when nothing came.
    let firstLine: String?
    /// The line that begins with `SSH-`.
    let identification: String?
    let algorithms: Algorithms?
    /// Whether the very first line is empty, which RFC 4253 section 4.2 allows.
    let beginsBlank: Bool

    private static let messageKexInit: UInt8 = 20
    private static let cookieSize = 16

    init(_ head: [UInt8]) {
        var first: ArraySlice<UInt8>?
        var identification: ArraySlice<UInt8>?
        var rest = head[...]
        while !rest.isEmpty, identification == nil {
            let line = rest.prefix { $0 != 0x0a }
            rest = rest[line.endIndex...].dropFirst()
            let text = line.last == 0x0d ? line.dropLast() : line
            if first == nil, !text.isEmpty { first = text }
            if text.starts(with: Array("SSH-".utf8)) { identification = text }
        }
        beginsBlank = head.drop { $0 == 0x0d }.first == 0x0a
        firstLine = first.map { SafeText.visible(bytes: $0) }
        self.identification = identification.map { SafeText.visible(bytes: $0) }
        algorithms = identification == nil ? nil : Self.kexInit(rest)
    }

    /// Whether the server is an OpenSSH.
    var isOpenSSH: Bool { identification?.hasPrefix("SSH-2.0-OpenSSH_") ?? false }

    private static func kexInit(_ bytes: ArraySlice<UInt8>) -> Algorithms? {
        var packet = SSHReader(bytes)
        guard packet.uint32() != nil, packet.byte() != nil, packet.byte() == messageKexInit,
            packet.bytes(cookieSize) != nil, let keyExchange = packet.text(), let hostKeys = packet.text(),
            let ciphers = packet.text(), packet.text() != nil, let macs = packet.text()
        else { return nil }
        return Algorithms(
            keyExchange: list(keyExchange), hostKeys: list(hostKeys), ciphers: list(ciphers), macs: list(macs)
        )
    }

    private static func list(_ text: String) -> [String] { text.split(separator: ",").map(String.init) }
}
