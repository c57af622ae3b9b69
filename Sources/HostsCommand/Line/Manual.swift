/// The manual page hostsctl(1), made from the command table; in roff, by the rules of man-pages(7).
struct Manual {
    let table: CommandTable

    /// The source of the page.
    var page: String {
        let lines =
            [
                ".\\\" Made from the command table of hostsctl; a test holds it true.",
                ".TH HOSTSCTL 1 \"\" \"hostsd\" \"User Commands\"", ".SH NAME",
                "hostsctl \\- see and steer what coding agents do on your hosts", ".SH SYNOPSIS",
                ".B hostsctl",
                ".RI [ VERB ] \" \" [ OPTION ]...", ".SH DESCRIPTION",
                "Asks the daemon hostsd, which holds one SSH connection to each host and looks at the coding agents there.",
                "Without a verb it shows the fleet. Options may stand anywhere; \\fB\\-\\-\\fR ends them.",
            ] + verbs + options + exitCodes + rest
        return lines.joined(separator: "\n") + "\n"
    }

    private var verbs: [String] {
        let rows = table.verbs.filter { $0.group != .hidden }
        return [".SH VERBS"]
            + rows.flatMap { row in
                let options = row.options.map { "\\fB\\-\\-\(Self.escaped($0.rawValue))\\fR" }
                let taken = options.isEmpty ? [] : ["Takes " + options.joined(separator: ", ") + "."]
                return [".TP", ".B " + Self.escaped(row.synopsis), Self.sentence(row.summary)]
                    + row.details.map(Self.escaped) + taken
            }
    }

    private var options: [String] {
        [".SH OPTIONS"]
            + table.options.flatMap { option in
                let short = option.short.map { "\\fB\\-\($0)\\fR, " } ?? ""
                let value = option.value.placeholder.map { " \\fI\(Self.escaped($0))\\fR" } ?? ""
                return [
                    ".TP", short + "\\fB\\-\\-" + Self.escaped(option.name.rawValue) + "\\fR" + value,
                    Self.sentence(option.summary),
                ]
            }
    }

    private var exitCodes: [String] {
        [".SH EXIT STATUS"]
            + ExitCode.allCases.flatMap { [".TP", ".B \($0.rawValue)", Self.sentence($0.meaning)] }
    }

    private var rest: [String] {
        [
            ".SH ENVIRONMENT", ".TP", ".B HOSTSD_SOCKET", "The daemon's socket.", ".TP", ".B XDG_RUNTIME_DIR",
            "Where the user's daemon has its socket: \\fIhostsd/api.sock\\fR; after it \\fI/run/hostsd/api.sock\\fR is tried.",
            ".TP", ".BR NO_COLOR \", \" CLICOLOR_FORCE \", \" CLICOLOR \", \" TERM \", \" COLUMNS",
            "Colour and width of the output on a terminal.", ".SH EXAMPLES",
        ]
            + table.verbs.flatMap(\.examples).flatMap { [".PP", ".EX", Self.escaped($0), ".EE"] }
            + [".SH SEE ALSO", ".BR hostsd (8)"]
    }

    private static func sentence(_ text: String) -> String {
        let text = text.prefix(1).uppercased() + text.dropFirst()
        return escaped(text) + "."
    }

    /// Nothing in a text is a request or an escape of roff, and a hyphen can be copied.
    private static func escaped(_ text: String) -> String {
        let escaped = text.replacing("\\", with: "\\e").replacing("-", with: "\\-")
        return escaped.hasPrefix(".") || escaped.hasPrefix("'") ? "\\&" + escaped : escaped
    }
}
