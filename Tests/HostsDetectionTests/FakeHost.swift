import HostsDetection
import HostsModel

/// A host as text: it answers requests in the format of the probe, from what a test has put there.
struct FakeHost {
    struct Process {
        var pid: Int32
        var parent: Int32 = 1
        var group: Int32
        var session: Int32
        var terminal: Int32
        var foreground: Int32
        var state = "S"
        var start: Int = 5_000
        var name: String
        var arguments: [String]
    }

    struct Pane {
        var id: String
        var pid: Int32
        var title: String
        var activity: Int64 = 1_000
        var screen: [UInt8]
        var label = "main:0.0"
        var isDrawable = true

        /// What tmux draws has a row for each of the pane, at least as many as are used.
        var height: Int { max(40, screen.count { $0 == 0x0a } + 1) }
    }

    var nonce = "n0nce"
    var boot = "b00t"
    var socket = "/tmp/tmux-1000/default"
    var now: Int64 = 1_100
    var processes: [Process] = [
        Process(
            pid: 9, group: 9, session: 9, terminal: 0, foreground: -1, name: "sh", arguments: ["/bin/sh"])
    ]
    var panes: [Pane] = []
    var stateFiles: [(agent: String, pid: Int32, json: String)] = []
    var turnLogs: [(pid: Int32, stamp: String, events: [String])] = []
    var serverStatus = "0"
    var isListed = true

    /// A pane with a shell and a program in its foreground.
    mutating func addPane(
        _ number: Int32, title: String, screen: [UInt8], command: [String], name: String? = nil,
        start: Int = 5_000
    ) {
        let shell = 100 + number * 10
        let program = shell + 1
        let terminal = 34_816 + number
        processes.append(
            Process(
                pid: shell, group: shell, session: shell, terminal: terminal, foreground: program,
                name: "bash",
                arguments: ["-bash"]))
        processes.append(
            Process(
                pid: program, parent: shell, group: program, session: shell, terminal: terminal,
                foreground: program, start: start, name: name ?? command[0], arguments: command))
        panes.append(
            Pane(id: "%\(number)", pid: shell, title: title, screen: screen, label: "main:0.\(number)"))
    }

    mutating func show(_ number: Int32, title: String? = nil, screen: [UInt8]) {
        guard let index = panes.firstIndex(where: { $0.id == "%\(number)" }) else { return }
        panes[index].screen = screen
        panes[index].title = title ?? panes[index].title
        now += 5
        panes[index].activity = now
    }

    mutating func endProgram(_ number: Int32) {
        let program = 101 + number * 10
        processes.removeAll { $0.pid == program }
        for index in processes.indices where processes[index].pid == program - 1 {
            processes[index].foreground = program - 1
        }
    }

    mutating func change(_ number: Int32, _ body: (inout Process) -> Void) {
        for index in processes.indices where processes[index].pid == 101 + number * 10 {
            body(&processes[index])
        }
    }

    func answer(_ request: ProbeRequest) -> ProbeReply {
        ProbeReply(nonce: nonce, body: body(request), status: 0)
    }

    func body(_ request: ProbeRequest) -> [UInt8] {
        let isProbe = request.function == "hostsd_probe"
        var text = Array("@\(nonce) hostsd 2 \(isProbe ? "probe" : "look")\n".utf8)
        if isProbe { text += head(request) }
        if !panes.isEmpty || serverStatus != "0" { text += server(request) }
        return text + Array("\n@\(nonce) done\n".utf8)
    }

    private func head(_ request: ProbeRequest) -> [UInt8] {
        var text = "@\(nonce) system Linux 6.1 box\n@\(nonce) boot \(boot)\n@\(nonce) user 1000\n"
        text +=
            "@\(nonce) processes 9 \(processes.map { $0.name.split(separator: "\n").count }.reduce(0, +))\n"
        for process in processes {
            text +=
                "/proc/\(process.pid)/stat:\(process.pid) (\(process.name)) \(process.state) \(process.parent) "
            text += "\(process.group) \(process.session) \(process.terminal) \(process.foreground) 4194560 "
            text += "1 2 3 4 5 6 7 8 20 0 1 0 \(process.start) 1000 1000 18446744073709551615 1\n"
        }
        text += "@\(nonce) commands\n"
        var bytes = Array(text.utf8)
        for process in processes {
            bytes += Array("/proc/\(process.pid)/cmdline:".utf8)
            for argument in process.arguments { bytes += Array(argument.utf8) + [0] }
            bytes.append(0x0a)
        }
        for file in stateFiles {
            bytes += Array(
                "@\(nonce) state \(file.agent) /home/d e\n/home/d e/\(file.pid).json:\(file.json)\n".utf8)
        }
        for word in request.arguments where word.hasPrefix("log:") {
            let parts = word.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
            guard let log = turnLogs.first(where: { String($0.pid) == parts[1] }) else { continue }
            let isSame = log.stamp == parts[2]
            bytes += Array("@\(nonce) log \(log.pid) \(isSame ? "same" : log.stamp)\n".utf8)
            for event in log.events where !isSame { bytes += Array("\"type\":\"\(event)\"\n".utf8) }
        }
        return bytes + Array("@\(nonce) processed\n\n".utf8)
    }

    private func server(_ request: ProbeRequest) -> [UInt8] {
        var bytes = Array("@\(nonce) server \(socket)\n".utf8)
        if isListed {
            bytes += Array("@\(nonce) tmux 77 900 \(now) 3.3a\n@\(nonce) clients\n@\(nonce) panes\n".utf8)
            for pane in panes {
                bytes += Array(
                    "\(pane.id) \(pane.pid) /dev/pts/1 0 0 0 \(pane.activity) 100 \(pane.height) ".utf8)
                bytes += Array("\(pane.label) \(pane.title)\n".utf8)
            }
            bytes += Array("@\(nonce) listed\n".utf8)
            for word in request.arguments where word.hasPrefix("capture:") {
                let parts = word.split(separator: ":").map(String.init)
                guard let pane = panes.first(where: { $0.id == parts[1] && parts[3] == socket }),
                    pane.isDrawable
                else { continue }
                if String(pane.activity) == parts[2] {
                    bytes += Array("@\(nonce) same \(pane.id)\n".utf8)
                } else {
                    bytes += Array("@\(nonce) screen \(pane.id)\n".utf8) + pane.screen
                    bytes += Array("\n@\(nonce) drawn \(pane.id)\n".utf8)
                }
            }
        }
        return bytes + Array("@\(nonce) served \(serverStatus)\n".utf8)
    }
}

extension HostDetector {
    /// One whole look at a fake host: probe and follow-ups.
    mutating func look(at host: FakeHost, seconds: Int64) throws -> HostObservation {
        let time = WallTime(milliseconds: 1_000_000 + seconds * 1000)
        var request = nextRequest()
        for _ in 0...HostDetector.followUpLimit {
            switch try report(host.answer(request), at: time) {
            case .followUp(let next): request = next
            case .observation(let observation): return observation
            }
        }
        throw ReplyError.unexpected
    }
}
