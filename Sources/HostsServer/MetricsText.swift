import HostsAPI
import HostsModel

/// The figures of the daemon in the text format of Prometheus, version 0.0.4.
///
/// Labels are bounded: hosts, hooks and closed sets of words. No session, path or title ever is one.
enum MetricsText {
    static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    static let conditions = [
        "online", "checking", "connecting", "reconnecting", "asleep", "disabled", "needsYou", "dormant",
        "limited",
        "unsupported", "badRecord",
    ]
    static let states = ["busy", "idle", "needsYou", "exited", "stopped", "unknown"]

    private struct Sample {
        let labels: [(name: String, value: String)]
        let value: Double
    }

    /// The page.
    static func page(status: StatusDocument, hosts: [HostView], sessions: [SessionView]) -> String {
        let conditions = Dictionary(grouping: hosts, by: \.condition).mapValues(\.count)
        let states = Dictionary(grouping: sessions, by: \.state).mapValues(\.count)
        var page = ""
        page += family(
            "hostsd_build_info", "The running version.",
            [Sample(labels: [("version", status.version)], value: 1)])
        page += family(
            "process_start_time_seconds", "When the daemon started, since the Unix epoch.",
            [Sample(labels: [], value: seconds(status.started))])
        page += family(
            "hostsd_hosts", "Hosts by what they show.",
            Self.conditions.map { Sample(labels: [("condition", $0)], value: Double(conditions[$0] ?? 0)) })
        page += family(
            "hostsd_sessions", "Agent sessions by state.",
            Self.states.map { Sample(labels: [("state", $0)], value: Double(states[$0] ?? 0)) })
        page += family(
            "hostsd_host_enabled", "Whether the daemon may dial the host.",
            hosts.map { Sample(labels: [("host", $0.name)], value: $0.enabled ? 1 : 0) })
        page += family(
            "hostsd_host_up", "Whether the host is online.",
            hosts.map { Sample(labels: [("host", $0.name)], value: $0.condition == "online" ? 1 : 0) })
        page += family(
            "hostsd_host_last_contact_timestamp_seconds", "The last look at the host, since the Unix epoch.",
            hosts.compactMap { host in
                host.lastObserved.map { Sample(labels: [("host", host.name)], value: seconds($0)) }
            })
        page += family(
            "hostsd_spool_messages", "Events that wait for a hook.",
            status.hooks.map { Sample(labels: [("hook", $0.name)], value: Double($0.pending)) })
        page += family(
            "hostsd_dead_letters", "Events that a hook will not get any more.",
            status.hooks.map { Sample(labels: [("hook", $0.name)], value: Double($0.dead)) })
        page += family(
            "hostsd_config_errors", "Errors in the configuration now.",
            [Sample(labels: [], value: Double(status.diagnostics.count { $0.severity == "error" }))])
        return page
    }

    private static func seconds(_ time: APITime) -> Double { Double(time.time.milliseconds) / 1000 }

    private static func family(_ name: String, _ help: String, _ samples: [Sample]) -> String {
        guard !samples.isEmpty else { return "" }
        var text = "# HELP \(name) \(help)\n# TYPE \(name) gauge\n"
        for sample in samples {
            let labels = sample.labels.map { "\($0.name)=\"\(escaped($0.value))\"" }.joined(separator: ",")
            text += labels.isEmpty ? name : "\(name){\(labels)}"
            text += " \(number(sample.value))\n"
        }
        return text
    }

    private static func number(_ value: Double) -> String {
        Int(exactly: value).map(String.init) ?? String(value)
    }

    private static func escaped(_ label: String) -> String {
        var result = ""
        for character in label.unicodeScalars {
            switch character {
            case "\\": result += "\\\\"
            case "\"": result += "\\\""
            case "\n": result += "\\n"
            default: result.unicodeScalars.append(character)
            }
        }
        return result
    }
}
