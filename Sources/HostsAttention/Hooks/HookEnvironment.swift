import HostsModel

/// The environment of hooks: a clean one, with the facts of the event.
package struct HookEnvironment: Hashable, Sendable {
    private static let inheritedNames: Set<String> = [
        "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR",
        "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY",
    ]
    /// Searched when the daemon has no PATH of its own.
    private static let defaultPath = "/usr/local/bin:/usr/bin:/bin"
    /// The version of the contract between hostsd and its hooks.
    private static let contractVersion = "1"

    private let base: [String: String]

    /// Takes what is useful of the daemon's environment.
    ///
    /// - Parameters:
    ///   - inherited: The environment of the daemon; of it the usual names and `XDG_*` are passed on.
    ///   - socket: The path of the control socket, if there is one.
    package init(inherited: [String: String], socket: String? = nil) {
        var base = inherited.filter { Self.inheritedNames.contains($0.key) || $0.key.hasPrefix("XDG_") }
        if base["PATH"] == nil { base["PATH"] = Self.defaultPath }
        base["HOSTSD_API"] = Self.contractVersion
        if let socket { base["HOSTSD_SOCKET"] = socket }
        self.base = base
    }

    /// The whole environment of one run.
    ///
    /// Text of others is in one line, bounded and visible.
    func variables(for event: AttentionEvent, attempt: Int) -> [String: String] {
        let facts: [String: String?] = [
            "EVENT": event.kind.rawValue, "EVENT_ID": event.id.rawValue, "KEY": event.key,
            "TIME": event.time.rfc3339, "ATTEMPT": String(attempt), "HOST": event.host?.rawValue,
            "SESSION": event.session?.rawValue, "AGENT": event.agent?.rawValue, "PLACE": event.place,
            "REASON": event.reason, "TURN": event.turn, "SEVERITY": event.kind.severity,
            "LATE": event.isLate ? "1" : "0", "GAP_SECONDS": String(event.gap?.components.seconds ?? 0),
            "SUMMARY": event.summary,
        ]
        var variables = base
        // What is not known is empty, not missing: a script under `set -u` must not fail for it.
        for (name, value) in facts { variables["HOSTSD_" + name] = SafeText.visible(value ?? "", limit: 500) }
        return variables
    }
}
