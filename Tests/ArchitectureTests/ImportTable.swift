/// Who may import whom.
///
/// Change a row together with the code that needs it, and say why in the row.
struct ImportRow: Sendable {
    /// The target, which is the name of its folder below `Sources`.
    let target: String
    /// Our own modules that it may import; all of them stand above it in the table.
    let modules: Set<String>
    /// Modules of the system and the toolchain that it may import.
    let system: Set<String>
    /// The compilation condition without which a module must not be imported.
    let conditions: [String: String]
    /// Why the row is as it is.
    let reason: String

    init(
        _ target: String, _ modules: Set<String> = [], system: Set<String> = [],
        conditions: [String: String] = [:],
        because reason: String
    ) {
        self.target = target
        self.modules = modules
        self.system = system
        self.conditions = conditions
        self.reason = reason
    }

    /// The table, from the bottom up.
    ///
    /// Foundation is in no row: it loads ICU, and FoundationEssentials suffices.
    static let all: [ImportRow] = [
        // C and C++: their own headers only; what they link stands in Package.swift.
        ImportRow("CCurl", because: "shims for libcurl's variadics"),
        ImportRow("CLinux", because: "system calls that Swift cannot import; no library but libc"),
        ImportRow("CMicroHTTPD", because: "shims for libmicrohttpd's variadics"),
        ImportRow("CPCRE2", because: "PCRE2 with the code unit width chosen"),
        ImportRow("CSQLite", because: "the system's SQLite"),
        ImportRow("CSSH", because: "everything that may call libssh2 or OpenSSL"),
        ImportRow("CSystemd", because: "the service manager's protocol, libsystemd"),
        ImportRow("CTOML", because: "a C interface on toml++, which is C++"),
        ImportRow(
            "CTerminal", because: "the width of characters, the size of the terminal, a hidden question"),

        // Vocabulary.
        ImportRow(
            "HostsModel", system: ["Synchronization", "Glibc"], conditions: ["Glibc": "HOSTS_TSAN"],
            because:
                "words that everybody shares; a pthread lock stands in for Mutex under ThreadSanitizer only"),
        ImportRow(
            "HostsPOSIX", system: ["Glibc"],
            because: "a thread, and the words for an errno: what every room that calls the system needs"),
        ImportRow(
            "HostsLog", ["HostsModel"], system: ["FoundationEssentials", "Glibc"],
            because: "sinks write to descriptors, and JSON"),

        // Pure decisions: no clock, no file, no task.
        ImportRow(
            "HostsPolicy", ["HostsModel"], because: "decides about values, and is offered as a library"),
        ImportRow(
            "HostsDetection", ["HostsModel", "CPCRE2"], system: ["FoundationEssentials"],
            because: "reads screens and replies that it is given; agents keep their state in JSON"),

        // Mechanism.
        ImportRow(
            "HostsConfig", ["HostsModel", "HostsPOSIX", "HostsDetection", "CTOML"],
            system: ["Dispatch", "Glibc"],
            because: "decodes rule files into the types of detection; reads and writes on a thread of its own"
        ),
        ImportRow(
            "HostsProcess", ["HostsModel", "HostsPOSIX", "CLinux"], system: ["Glibc"],
            because: "spawns bounded children for whoever needs one"),
        ImportRow(
            "HostsSSH", ["HostsModel", "HostsPOSIX", "HostsLog", "HostsProcess", "CSSH", "CLinux"],
            system: ["FoundationEssentials", "Glibc", "Synchronization"],
            because: "links know hosts by their protocol and never the hub; `ssh -G` is a bounded child"),
        ImportRow(
            "HostsSystem",
            ["HostsModel", "HostsPOSIX", "HostsPolicy", "HostsLog", "CSystemd", "CLinux"],
            system: ["Glibc"],
            because: "tells what the system does; the policy makes one phase out of all signals"),

        // Engines.
        ImportRow(
            "HostsHub", ["HostsModel", "HostsPolicy", "HostsDetection", "HostsLog"],
            because: "sees links as `ProbeLink` only; no call to the system, so that days pass in a test"),
        ImportRow(
            "HostsAttention",
            ["HostsModel", "HostsPOSIX", "HostsPolicy", "HostsLog", "HostsProcess", "CSQLite"],
            system: ["FoundationEssentials", "Glibc"],
            because: "stores events in SQLite and runs hooks as bounded children; never asks the hub"),

        // Interface.
        ImportRow(
            "HostsAPI", ["HostsModel", "CCurl"], system: ["FoundationEssentials", "Glibc"],
            because: "the documents of the wire and their client, shared by both programs"),
        ImportRow(
            "HostsServer", ["HostsAPI", "HostsModel", "HostsPOSIX", "HostsLog", "CLinux", "CMicroHTTPD"],
            system: ["FoundationEssentials", "Glibc"],
            because: "serves what it is handed; knows neither hub nor store"),
        ImportRow(
            "HostsCommand",
            ["HostsAPI", "HostsModel", "HostsConfig", "HostsDetection", "HostsPolicy", "CTerminal"],
            system: ["FoundationEssentials", "Glibc"],
            because:
                "the verbs of hostsctl as a library, so that tests can call them; never the hub, but attach decides by the same policy, and explain runs the same rules"
        ),

        // Test support.
        ImportRow(
            "HostsTestSupport", ["HostsModel", "HostsPOSIX", "HostsProcess", "CLinux"],
            system: ["FoundationEssentials", "Glibc", "Synchronization", "Testing"],
            because: "fakes speak the protocols of the model; private servers are children"),

        // Composition.
        ImportRow(
            "hostsctl", ["HostsCommand", "HostsAPI", "HostsConfig", "HostsModel", "HostsPOSIX", "CTerminal"],
            system: ["FoundationEssentials", "Glibc"],
            because:
                "reaches the daemon through the API only, and writes overrides when it does not run; a window is held by a thread"
        ),
        ImportRow(
            "HostsDaemon",
            [
                "HostsModel", "HostsPOSIX", "HostsPolicy", "HostsDetection", "HostsConfig", "HostsLog",
                "HostsSSH", "HostsSystem", "HostsHub", "HostsAttention", "HostsAPI", "HostsServer",
            ], system: ["Glibc"],
            because:
                "the one place where the parts meet and defaults are chosen; a library, so that tests can call it"
        ),
        ImportRow(
            "hostsd", ["HostsDaemon", "HostsSystem"], system: ["Glibc"],
            because: "reads the command line, and tells by its exit status how it went"),
        ImportRow(
            "hostsd-demo",
            ["HostsTestSupport", "HostsAPI", "HostsModel", "HostsProcess", "HostsLog", "HostsSystem"],
            system: ["FoundationEssentials", "Glibc", "Synchronization"],
            because:
                "drives the real programs from outside, as a person would; needs signals to clean up after Ctrl-C"
        ),
    ]
}
