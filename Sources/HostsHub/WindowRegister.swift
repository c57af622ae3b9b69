import HostsModel

/// Names a window of the person's until it is closed.
package struct WindowToken: Hashable, Sendable {
    let host: HostID
    let number: Int
}

/// How many windows of the person's are open on a host.
struct OpenWindows: Hashable, Sendable {
    /// A running `hostsctl attach`: the host's probe is kept warm, whatever its record says.
    var attached = 0
    /// Somebody looks at a session of the host and wants to see it change.
    var watched = 0
}

/// The windows that are open on each host; each is closed once, in any order.
struct WindowRegister: Sendable {
    enum Kind: Hashable, Sendable {
        case attached, watched
    }

    private var kinds: [WindowToken: Kind] = [:]
    private var next = 0

    mutating func add(_ kind: Kind, on host: HostID) -> WindowToken {
        next += 1
        let token = WindowToken(host: host, number: next)
        kinds[token] = kind
        return token
    }

    /// False when it was closed before.
    mutating func remove(_ token: WindowToken) -> Bool { kinds.removeValue(forKey: token) != nil }

    func open(on host: HostID) -> OpenWindows {
        var windows = OpenWindows()
        for (token, kind) in kinds where token.host == host {
            switch kind {
            case .attached: windows.attached += 1
            case .watched: windows.watched += 1
            }
        }
        return windows
    }
}
