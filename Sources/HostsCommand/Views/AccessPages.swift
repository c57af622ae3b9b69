import HostsAPI

/// `hostsctl trust HOST`.
struct TrustPage {
    let document: TrustDocument
    let appearance: Appearance

    private var key: HostKeyView { document.key }

    /// The key, and where it belongs.
    var facts: [StyledText] {
        var facts = FactList()
        facts.add("name", foreign: key.name)
        facts.add("type", foreign: key.type)
        facts.add("fingerprint", foreign: key.fingerprint)
        facts.add("expected", foreign: key.expected)
        facts.add("file", foreign: key.file)
        return facts.lines
    }

    var lines: [StyledText] {
        let name = StyledText(foreign: document.host, .strong) + "  "
        if document.added {
            guard !appearance.isQuiet else { return [] }
            return [name + StyledText("●", .good) + " key added"] + facts
        }
        switch key.verdict {
        case "known":
            guard !appearance.isQuiet else { return [] }
            return [name + StyledText("●", .good) + " key known already"] + facts
        case "unknown": return [name + StyledText("!", .attention) + " key not known"] + facts
        default: return [name + StyledText("× ", .bad) + StyledText(foreign: "key " + key.verdict)] + facts
        }
    }

    /// Why the key is never added, and the way out; nil for one that may be.
    var refusal: (message: String, hint: String?)? {
        switch key.verdict {
        case "known", "unknown": nil
        case "changed":
            (
                "\(document.host): the host key of \(key.name) has changed: \(key.file) has "
                    + "\(key.expected ?? "another"), the server shows \(key.fingerprint)",
                "if the change is expected: ssh-keygen -f \(key.file) -R '\(key.name)', then: "
                    + "hostsctl trust \(document.host)"
            )
        case "revoked":
            (
                "\(document.host): the host key of \(key.name) is revoked (\(key.fingerprint))",
                "do not log in; ask whoever runs the host for its new key"
            )
        default:
            ("\(document.host): hostsd calls the key \(key.verdict), which this hostsctl does not know", nil)
        }
    }
}

/// `hostsctl unlock HOST`.
struct UnlockPage {
    let document: UnlockDocument
    let appearance: Appearance

    var lines: [StyledText] {
        guard !appearance.isQuiet else { return [] }
        var facts = FactList()
        facts.add("keys", document.keys.map { StyledText(foreign: $0) })
        return [
            StyledText(foreign: document.host, .strong) + "  " + StyledText("●", .good)
                + " open until hostsd stops"
        ] + facts.lines
    }
}
