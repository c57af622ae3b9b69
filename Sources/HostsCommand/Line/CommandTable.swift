import HostsAPI

/// The one description of the command line: parser, help, completion and their tests all read it.
struct CommandTable: Sendable {
    /// More operands than anybody has hosts.
    static let operandLimit = 10_000
    /// Most lines that are asked for at a time.
    static let lineLimit = 1...10_000

    /// The closed sets of the daemon's log, in its order (a test compares them).
    static let categories = [
        "daemon", "config", "hub", "ssh", "probe", "detect", "resume", "background", "attention", "hook",
        "api",
        "history",
    ]
    static let levels = ["trace", "debug", "info", "notice", "warning", "error", "critical"]
    static let eventKinds = [
        "turn.ended", "needs.you", "needs.cleared", "agent.started", "agent.exited", "host.needs-you",
        "host.lost",
        "host.recovered", "host.out-of-sync", "rules.stale", "config.error", "daemon.started",
        "daemon.stopping",
    ]
    static let transports = ["auto", "libssh2", "openssh", "local"]
    static let sessionRestores = ["none", "tmux"]
    static let recordKeys = [
        "ssh", "label", "enabled", "background_keep_alive", "session_restore", "transport", "tags",
    ]
    static let shells = ["bash", "zsh", "fish"]
    static let debugActions = DebugAction.allCases.map(\.rawValue)

    let verbs: [VerbSpecification]
    let options: [OptionSpecification]
    /// Options that every verb takes.
    let common: [OptionName]

    func specification(of verb: Verb) -> VerbSpecification {
        guard let row = verbs.first(where: { $0.verb == verb }) else {
            preconditionFailure("the table has a row for every verb: a test goes through all")
        }
        return row
    }

    func specification(of option: OptionName) -> OptionSpecification {
        guard let row = options.first(where: { $0.name == option }) else {
            preconditionFailure("the table has a row for every option: a test goes through all")
        }
        return row
    }

    /// Whether a verb takes an option.
    func takes(_ verb: Verb, _ option: OptionName) -> Bool {
        common.contains(option) || specification(of: verb).options.contains(option)
    }

    /// What an option is to a verb.
    func specification(of option: OptionName, with verb: VerbSpecification) -> OptionSpecification {
        let row = specification(of: option)
        return verb.plain.contains(option)
            ? OptionSpecification(option, short: row.short, "do it without a question") : row
    }

    /// The table of this program.
    static let standard = CommandTable(
        verbs: looking + following + acting + recording + running,
        options: [
            OptionSpecification(.json, "print the daemon's own documents, unchanged"),
            OptionSpecification(.quiet, short: "q", "no headings, hints or notices"),
            OptionSpecification(
                .color, value: .choice(ColourChoice.allCases.map(\.rawValue)), "when to colour (default auto)"
            ),
            OptionSpecification(
                .timeout, value: .seconds(upTo: 86_400),
                "give up after so long (default 10; check, trust, unlock 75; -f never)"),
            OptionSpecification(
                .socket, value: .path("PATH"),
                "the daemon's socket (else HOSTSD_SOCKET, else where it belongs)"),
            OptionSpecification(
                .configDirectory, value: .path("PATH"), "folder of hosts.d, for completion and hints"),
            OptionSpecification(
                .stateDirectory, value: .path("PATH"),
                "taken for symmetry with hostsd; hostsctl keeps no state"),
            OptionSpecification(.help, short: "h", "help on hostsctl or on a verb"),
            OptionSpecification(.version, "the same as the verb version"),
            OptionSpecification(.follow, short: "f", "go on with what comes; Ctrl-C ends it"),
            OptionSpecification(.watch, "show it again whenever it has changed; Ctrl-C ends it"),
            OptionSpecification(.after, value: .text("ID"), "only what came after the event of this id"),
            OptionSpecification(.limit, short: "n", value: .count(lineLimit), "at most so many, the newest"),
            OptionSpecification(.host, value: .host, "only what is about this host"),
            OptionSpecification(
                .kind, value: .choice(eventKinds), "only events of this kind, such as needs.you"),
            OptionSpecification(.category, value: .choices(categories), "only these, such as attention,hub"),
            OptionSpecification(
                .level, value: .choice(levels), "this level and above (default: info)"),
            OptionSpecification(
                .yes, value: .fingerprint, "accept the key of this fingerprint without a question"),
            OptionSpecification(
                .screen, value: .path("FILE"), "a captured screen, - for standard input; asks no daemon"),
            OptionSpecification(.agent, value: .text("NAME"), "by the rules of this agent, such as claude"),
            OptionSpecification(.title, value: .text("TEXT"), "the title that the pane had"),
            OptionSpecification(.unknown, "only those whose state or rules are not understood"),
            OptionSpecification(.label, value: .text("TEXT"), "the name shown to people"),
            OptionSpecification(.transport, value: .choice(transports), "how the host is reached"),
            OptionSpecification(.tag, value: .words("WORD"), "words to group hosts by; may be given again"),
            OptionSpecification(.disabled, "do not connect to it yet"),
            OptionSpecification(.unset, value: .words("KEY"), "take these keys out of the override"),
            OptionSpecification(.backgroundKeepAlive, "one more look before this machine sleeps"),
            OptionSpecification(
                .sessionRestore, value: .choice(sessionRestores), "what attach does after a sleep"),
        ],
        common: [
            .json, .quiet, .color, .timeout, .socket, .configDirectory, .stateDirectory, .help, .version,
        ])

    private static let looking = [
        VerbSpecification(
            .list, .look, .none, "hosts and agents at a glance; also what a bare hostsctl does",
            details: [
                "Agents that need you come first, disabled hosts last. What the daemon cannot see now is",
                "shown as it was last seen, with its age.",
            ],
            examples: ["hostsctl", "hostsctl list --json"]),
        VerbSpecification(
            .status, .look, .optional(.host, "HOST"), "the daemon, or one host in brief",
            details: ["With a HOST the exit code is 3 unless it is online; -q prints nothing then."],
            examples: ["hostsctl status", "hostsctl status -q devbox && echo up"]),
        VerbSpecification(
            .show, .look, .one(.hostOrSession, "HOST|SESSION"), options: [.watch],
            "everything known of a host or a session",
            details: [
                "A session is named by its id (see: hostsctl sessions --json). With --watch the host is looked at",
                "every second while you are there.",
            ],
            examples: ["hostsctl show devbox", "hostsctl show devbox --watch"]),
        VerbSpecification(
            .sessions, .look, .none, options: [.host, .unknown], "agent sessions, those that need you first",
            details: [
                "With --unknown only those in which no rule sees a state, or whose output moves on without any sign",
                "of work: the agent is newer than its rules, or has none. It says why, and the ids for explain.",
            ],
            examples: ["hostsctl sessions --host devbox", "hostsctl sessions --unknown"]),
        VerbSpecification(
            .explain, .look, .optional(.session, "SESSION"), options: [.screen, .agent, .title],
            "why a session is thought to be in its state",
            details: [
                "Shows the last 64 looks at it: every sign that was seen, what it says, and whether it was applied,",
                "outranked by one that counts more, or discarded. A session is named by its id.",
                "With --screen and --agent the rules are run on a captured screen instead, for those who write rules.",
            ],
            examples: [
                "hostsctl explain devbox/4242-1f0c9a7be2d35c61",
                "tmux capture-pane -p -t %4 | hostsctl explain --screen - --agent claude --json",
            ]),
    ]

    private static let following = [
        VerbSpecification(
            .events, .follow, .none, options: [.follow, .after, .limit, .host, .kind],
            "what happened, oldest first",
            details: [
                "With -f only new events come, or those behind --after, or -n of the last ones first. They go",
                "on through restarts of the daemon; none comes twice. With --json each line is one event.",
            ],
            examples: ["hostsctl events -f --kind needs.you", "hostsctl events --host devbox -n 20"]),
        VerbSpecification(
            .logs, .follow, .none, options: [.follow, .category, .level, .host, .limit], "the daemon's log",
            details: ["With -f the last 10 lines (or -n) come first, then new ones."],
            examples: ["hostsctl logs -f --category attention,hub --level debug"]),
    ]

    private static let acting = [
        VerbSpecification(
            .attach, .act, .one(.window, "HOST[:SESSION]"),
            "open a shell on a host, or the tmux pane of an agent",
            details: [
                "Runs your own ssh on this terminal. SESSION is the place of an agent such as main:0.1, its pane such",
                "as %4, or its id. A session that a sleep has cut is attached again if the record of the host says",
                "session_restore = \"tmux\"; what you have ended stays ended. The exit code is that of ssh.",
            ],
            examples: ["hostsctl attach devbox", "hostsctl attach devbox:main:0.1"]),
        VerbSpecification(
            .enable, .act, .some(.host, "HOST"), "let hostsd connect to hosts again",
            details: ["What is enabled already stays so; that is success, too."]),
        VerbSpecification(
            .disable, .act, .some(.host, "HOST"), "disconnect hosts and leave them alone",
            details: ["The last sessions stay on show, with their age."]),
        VerbSpecification(.probe, .act, .one(.host, "HOST"), "look at a host now"),
        VerbSpecification(.resume, .act, .one(.host, "HOST"), "connect to a host now, not by the schedule"),
        VerbSpecification(
            .cancel, .act, .some(.host, "HOST"), "stop the attempts to reach hosts, until resume",
            details: ["For a host that is being connected, or waits for its next attempt."]),
        VerbSpecification(
            .trust, .act, .one(.host, "HOST"), options: [.yes], "accept the key that a host shows",
            details: [
                "Shows the key, asks, and adds it to known_hosts; then hostsd connects. Without a terminal,",
                "--yes names the key. One that has changed or is revoked is never added; the exit code is 7.",
                "Where a jump host is not trusted yet, its key comes first. Works for disabled hosts, too.",
            ],
            examples: ["hostsctl trust devbox"]),
        VerbSpecification(
            .unlock, .act, .one(.host, "HOST"), "open the keys of a host that have a passphrase",
            details: [
                "Asks for the passphrase on the terminal, or reads one line where standard input is none.",
                "hostsd keeps open keys in memory until it stops, and connects every host that waits for them.",
            ],
            examples: ["hostsctl unlock devbox", "pass show devbox | hostsctl unlock devbox"]),
        VerbSpecification(
            .check, .act, .one(.host, "HOST"), "try a host with a connection of its own, then close it",
            details: ["Works for disabled hosts, too. The exit code is 1 if the host is not reached."]),
    ]

    private static let recording = [
        VerbSpecification(
            .add, .records,
            .init(kind: .word, name: "NAME", count: 1...2, text: "NAME [SSH-DESTINATION]"),
            options: [.label, .transport, .tag, .disabled, .backgroundKeepAlive, .sessionRestore],
            "make the record of a new host",
            details: [
                "Writes hosts.d/NAME.toml, which is yours from then on, and connects. The destination is what you",
                "would type after ssh; without it, it is NAME. A record that is there is never replaced.",
            ],
            examples: [
                "hostsctl add devbox", "hostsctl add gpu1 dev@gpu1.example --label GPU --tag ml,office",
                "hostsctl add here --transport local",
            ]),
        VerbSpecification(
            .remove, .records, .one(.host, "HOST"), options: [.yes], plain: [.yes], "forget a host",
            details: [
                "Asks first; without a terminal, --yes (here without a value) says so. Nothing is deleted: the record",
                "and its override get names that are not read: NAME.toml.removed. Rename them to have the host back.",
            ],
            examples: ["hostsctl remove devbox --yes"]),
        VerbSpecification(
            .set, .records,
            .init(
                kind: .hostAndSettings, name: "HOST KEY=VALUE", count: 1...operandLimit,
                text: "HOST [KEY=VALUE]..."),
            options: [.unset], "override keys of a host's record",
            details: [
                "Writes NAME.override.toml, all of the keys or none; your record stays as it is. KEY= and --unset KEY",
                "take a key out, so that your record counts again. A list has commas between its words.",
                "Keys: ssh label enabled background_keep_alive session_restore transport tags.",
            ],
            examples: [
                "hostsctl set devbox label=Dev tags=ml,office", "hostsctl set devbox transport=",
                "hostsctl set devbox --unset label,tags",
            ]),
    ]

    private static let running = [
        VerbSpecification(.hooks, .daemon, .none, "the notifier hooks and what waits for them"),
        VerbSpecification(
            .reload, .daemon, .none, "read the configuration again",
            details: ["The exit code is 6 if a file has errors; good files take effect all the same."]),
        VerbSpecification(
            .refresh, .daemon, .none, "look now at hosts that have opted in or gone dormant",
            details: [
                "For the hosts whose record says background_keep_alive, and for those that hostsd has stopped",
                "trying; what is found is told before it returns. The unit hostsd-refresh.timer runs it.",
            ]),
        VerbSpecification(
            .debug, .daemon, VerbSpecification.Operands(kind: .debug, name: "WHAT", count: 1...2),
            "play a sleep, a wake or a refresh; the same code runs",
            details: [
                "WHAT is sleep, wake, refresh, or keepalive [HOST], which turns background_keep_alive of a host",
                "(else the first) on or off in its override file. The machine itself does not sleep.",
            ],
            examples: ["hostsctl debug sleep && sleep 5 && hostsctl debug wake"]),
        VerbSpecification(
            .help, .more, .optional(.verb, "VERB"), "help on a verb; also: help exit-codes",
            examples: ["hostsctl help events", "hostsctl help exit-codes"]),
        VerbSpecification(.version, .more, .none, "versions of hostsctl and of the daemon"),
        VerbSpecification(
            .completion, .more, .one(.shell, "SHELL"), "a completion script for bash, zsh or fish",
            examples: [
                "hostsctl completion bash > ~/.local/share/bash-completion/completions/hostsctl",
                "hostsctl completion zsh > \"${fpath[1]}/_hostsctl\"",
                "hostsctl completion fish > ~/.config/fish/completions/hostsctl.fish",
            ]),
        VerbSpecification(.complete, .hidden, .any(.word, "WORD"), "asked by the completion scripts"),
    ]
}
