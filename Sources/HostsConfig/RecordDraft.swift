package import HostsModel

/// A host's record while its files are read: the record first, the override over it.
struct RecordDraft: Hashable, Sendable {
    var destination: String?
    var label: String?
    var isEnabled = true
    var backgroundKeepAlive = false
    var sessionRestore: HostRecord.SessionRestore = .none
    var transport: HostRecord.Transport = .auto
    var tags: [String] = []
}

extension RecordDraft {
    static let tagLimit = 16

    /// The keys of `hosts.d/NAME.toml` and of `NAME.override.toml`.
    static let keys: [ConfigurationKey<RecordDraft>] = {
        let defaults = RecordDraft()
        return [
            .text(
                "ssh", \.destination, takes: "a string in quotes", defaultText: "required",
                "What you would type after `ssh`; resolved by ssh itself. Not used by `transport = \"local\"`.",
                problem: TextRule.destination),
            .text(
                "label", \.label, takes: "a string in quotes", defaultText: "the file's name",
                "The name shown to people.", problem: TextRule.label),
            .boolean(
                "enabled", \.isEnabled, defaults: defaults,
                "A disabled host is never dialled by the daemon on its own."),
            .boolean(
                "background_keep_alive", \.backgroundKeepAlive, defaults: defaults,
                "Opts the host into one more look right before this machine sleeps, as far as the system allows it."
            ),
            .choice(
                "session_restore", \.sessionRestore, defaults: defaults,
                "\"tmux\": `hostsctl attach` opens the tmux session `hostsd`, again after a sleep too."),
            .choice(
                "transport", \.transport, defaults: defaults,
                "How the host is reached; see docs/links.md."),
            .texts(
                "tags", \.tags, atMost: tagLimit, takes: "an array of at most \(tagLimit) words in quotes",
                "Words to group hosts by.", problem: TextRule.tag),
        ]
    }()

    /// The record, if it says how to reach the host.
    ///
    /// - Throws: What is missing, at the record's file.
    func record(id: HostID, file: String) throws(Diagnostic) -> HostRecord {
        guard transport == .local || destination != nil else {
            throw .error(
                at: .whole(file),
                "the key \"ssh\" is missing: write ssh = \"DESTINATION\", or transport = \"local\"")
        }
        return HostRecord(
            id: id, destination: destination ?? "", label: label, isEnabled: isEnabled,
            backgroundKeepAlive: backgroundKeepAlive, sessionRestore: sessionRestore, transport: transport,
            tags: tags)
    }
}

extension HostRecord {
    /// The host that is supervised as long as the person has configured none: this machine.
    package static func implicitLocal(id: HostID) -> HostRecord {
        HostRecord(id: id, destination: "", label: "This machine", transport: .local)
    }
}
