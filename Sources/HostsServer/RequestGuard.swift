package import HostsAPI

/// Refuses what no client of ours sends, before any route is looked up.
///
/// The socket is the person's alone (mode 0600), so this is the second wall: a program that forwards a browser's
/// requests to the socket must not lend it the person's rights. Model: a local API that answers only its own
/// host name and no page of a browser.
package struct RequestGuard: Hashable, Sendable {
    /// What a client may call the server in `Host`; a port may follow.
    package static let hostNames: Set<String> = ["localhost", "hostsd"]

    private let uid: UInt32

    /// Makes a guard.
    ///
    /// - Parameter uid: Whose daemon it is; root is let in besides.
    package init(uid: UInt32) {
        self.uid = uid
    }

    /// Why a request is not answered; nil if it may be.
    package func refusal(of request: HTTPRequest, authority: String?) -> APIError? {
        guard let peer = request.peer, peer.uid == uid || peer.uid == 0 else {
            return .notPermitted("the socket belongs to another user")
        }
        for name in ["origin", "referer"] where request.fields[name] != nil {
            return .notPermitted("requests of web pages are not answered here (\(name) is set)")
        }
        let hosts = request.fields["host"] ?? []
        guard hosts.count == 1 else { return .badRequest("a request has exactly one Host field") }
        for host in hosts + [authority].compactMap({ $0 }) where !Self.isOurs(host) {
            return .notPermitted("Host must be localhost or hostsd")
        }
        guard request.bodySize <= HTTPRequest.bodyLimit else {
            return .tooLarge("a request body has at most \(HTTPRequest.bodyLimit)")
        }
        return nil
    }

    private static func isOurs(_ host: String) -> Bool {
        let parts = host.lowercased().split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard let name = parts.first, hostNames.contains(String(name)) else { return false }
        return parts.count == 1 || UInt16(parts[1]) != nil
    }
}
