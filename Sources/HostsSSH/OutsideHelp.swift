import Glibc

/// A connection of the person's own ssh that others may share (ssh_config(5), ControlMaster).
enum SharedConnection {
    /// Whether somebody listens at a control socket.
    ///
    /// A stale socket refuses at once; one whose owner hangs accepts all the same, and costs an attempt.
    static func isThere(_ path: String) -> Bool {
        guard let socket = SocketDescriptor(family: AF_UNIX), let address = SocketAddress(unixPath: path)
        else {
            return false
        }
        return address.connect(socket.raw) == 0
    }
}

/// What Kerberos keeps for the person (krb5.conf(5), default_ccache_name; MIT's default).
enum KerberosTicket {
    /// Whether there is a cache of tickets; not whether one of them fits.
    static func isThere(_ environment: [String: String]) -> Bool {
        let name = environment["KRB5CCNAME"] ?? "FILE:/tmp/krb5cc_\(getuid())"
        guard let colon = name.firstIndex(of: ":") else { return exists(name) }
        switch name[..<colon] {
        case "FILE", "DIR": return exists(String(name[name.index(after: colon)...]))
        // In the kernel or a daemon: only Kerberos itself can look.
        default: return true
        }
    }

    private static func exists(_ path: String) -> Bool { unsafe access(path, R_OK) == 0 }
}
