import HostsModel

/// Puts a report together, section by section.
struct ReportBuilder {
    private var report: ProbeReport
    /// The shell that answered; its own process must be in the list, or the list is not whole.
    private var shell: Int32?
    private var isProcessed = false
    /// Rows of the list of processes: as the host says, and as they came.
    private var expectedRows: Int?
    private var rows = 0
    private var isDone = false
    private var indexByPid: [Int32: Int] = [:]

    init(kind: ProbeReport.Kind) {
        report = ProbeReport(kind: kind)
    }

    mutating func add(_ section: ReplySection, of body: [UInt8]) throws(ReplyError) {
        guard !isDone else { throw .malformed(section: "done") }
        switch section.name {
        case "unsupported": throw .unsupportedHost
        case "system": report.system = SafeText.visible(section.text)
        case "boot": report.bootID = SafeText.visible(section.text)
        case "user": report.user = section.words.first.flatMap { Int($0) } ?? -1
        case "processes": try addProcesses(section, of: body)
        case "commands": addCommands(section, of: body)
        case "state": addStateFiles(section, of: body)
        case "log": addTurnLog(section, of: body)
        case "processed": isProcessed = true
        case "server": addServer(section)
        case "done": isDone = true
        default: addToServer(section, of: body)
        }
    }

    func finish() throws(ReplyError) -> ProbeReport {
        guard isDone else { throw .cut }
        guard report.kind == .probe else { return report }
        guard !report.bootID.isEmpty else { throw .malformed(section: "boot") }
        guard report.user >= 0 else { throw .malformed(section: "user") }
        guard let shell else { throw .malformed(section: "processes") }
        // The host cuts what is too long; the rest of the list is no list.
        guard isProcessed else { throw .tooManyProcesses }
        guard expectedRows == rows else { throw .disturbed(section: "processes") }
        guard indexByPid[shell] != nil else { throw .malformed(section: "processes") }
        return report
    }

    // MARK: Processes

    private mutating func addProcesses(_ section: ReplySection, of body: [UInt8]) throws(ReplyError) {
        guard let pid = section.words.first.flatMap({ Int32($0) }) else {
            throw .malformed(section: "processes")
        }
        shell = pid
        // A list that is cut has fewer, and says so by what it lacks: the end of the processes.
        expectedRows = section.words.dropFirst().first.flatMap { Int($0) }
        rows = section.rows.count
        let isPS = section.words.dropFirst(2).first == "ps"
        for row in section.rows where report.processes.count < ReplyParser.processLimit {
            let record =
                isPS
                ? ProcessRecord(psRow: body[row])
                : ProcLine(row, of: body, file: "stat").flatMap { ProcessRecord(statLine: $0, of: body) }
            guard let process = record else { continue }
            guard indexByPid[process.pid] == nil else { continue }
            indexByPid[process.pid] = report.processes.count
            report.processes.append(process)
        }
    }

    private mutating func addCommands(_ section: ReplySection, of body: [UInt8]) {
        for row in section.rows {
            guard let line = ProcLine(row, of: body, file: "cmdline") else { continue }
            guard let index = indexByPid[line.pid] else { continue }
            // A program that renames itself leaves NULs behind its new name.
            let arguments = body[line.content].split(separator: 0, omittingEmptySubsequences: false)
            report.processes[index].arguments = arguments.reversed().drop { $0.isEmpty }.reversed().map {
                String(decoding: $0, as: UTF8.self)
            }
        }
    }

    private mutating func addStateFiles(_ section: ReplySection, of body: [UInt8]) {
        let words = section.text.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        guard words.count == 2 else { return }
        // The folder is the person's own and may have any bytes in its name but a line feed.
        let prefix = Array((words[1] + "/").utf8)
        for row in section.rows where report.stateFiles.count < ReplyParser.processLimit {
            guard body[row].starts(with: prefix) else { continue }
            let line = body[row].dropFirst(prefix.count)
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { continue }
            let file = String(decoding: line[..<colon], as: UTF8.self)
            guard file.hasSuffix(".json"), let pid = Int32(file.dropLast(5)) else { continue }
            report.stateFiles.append(
                StateFileRecord(
                    agent: AgentName(rawValue: String(words[0])), pid: pid, json: Array(line[(colon + 1)...]))
            )
        }
    }

    private mutating func addTurnLog(_ section: ReplySection, of body: [UInt8]) {
        guard report.turnLogs.count < ReplyParser.processLimit, section.words.count == 2,
            let pid = Int32(section.words[0])
        else { return }
        guard section.words[1] != "same" else {
            report.turnLogs.append(TurnLogRecord(pid: pid, content: .same))
            return
        }
        guard let stamp = TurnLogRecord.Stamp(section.words[1]) else { return }
        let prefix = "\"type\":\""
        let events = section.rows.suffix(ReplyParser.eventLimit).compactMap { row -> String? in
            let text = String(decoding: body[row], as: UTF8.self)
            guard text.hasPrefix(prefix), text.hasSuffix("\"") else { return nil }
            return String(text.dropFirst(prefix.count).dropLast())
        }
        report.turnLogs.append(TurnLogRecord(pid: pid, content: .read(stamp, events: events)))
    }

    // MARK: tmux

    private mutating func addServer(_ section: ReplySection) {
        guard report.servers.count < ReplyParser.serverLimit else { return }
        report.servers.append(TmuxServer(socket: section.text))
    }

    private mutating func addToServer(_ section: ReplySection, of body: [UInt8]) {
        guard !report.servers.isEmpty else { return }
        let last = report.servers.count - 1
        switch section.name {
        case "tmux":
            guard section.words.count >= 3 else { return }
            report.servers[last].pid = Int32(section.words[0]) ?? 0
            report.servers[last].now = Int64(section.words[2]) ?? 0
            report.servers[last].version = SafeText.visible(section.words.dropFirst(3).joined(separator: " "))
        case "clients":
            report.servers[last].clients = section.rows.prefix(ReplyParser.clientLimit).compactMap {
                TmuxClient(row: body[$0])
            }
        case "panes":
            report.servers[last].panes = section.rows.prefix(ReplyParser.paneLimit).compactMap {
                TmuxPane(row: body[$0])
            }
        case "listed": report.servers[last].isListed = true
        case "same":
            guard let pane = section.words.first else { return }
            report.servers[last].captures[pane] = .same
        case "screen": openScreen = screen(section, of: body)
        case "drawn":
            // Only a screen with both of its marks is whole.
            guard let open = openScreen, open.pane == section.words.first else { return }
            report.servers[last].captures[open.pane] = .screen(open.bytes)
        case "served":
            report.servers[last].answer = answer(section.words.first, isListed: report.servers[last].isListed)
        default: break  // a later version of the script may say more
        }
        if section.name != "screen" { openScreen = nil }
    }

    private var openScreen: (pane: String, bytes: [UInt8])?

    private func screen(_ section: ReplySection, of body: [UInt8]) -> (pane: String, bytes: [UInt8])? {
        guard let pane = section.words.first else { return nil }
        // Of more rows than the pane has, some are somebody else's.
        let known = report.servers.last?.panes.first { $0.id == pane }
        if let known, known.height > 0, section.rows.count > known.height { return nil }
        let rows = section.rows.suffix(ReplyParser.rowLimit)
        guard let first = rows.first, let last = rows.last else { return (pane, []) }
        return (pane, Array(body[first.lowerBound..<last.upperBound]))
    }

    private func answer(_ word: String?, isListed: Bool) -> TmuxServer.Answer {
        guard let word, word != "skipped" else { return .skipped }
        guard let status = Int(word) else { return .failed(status: -1) }
        switch status {
        case 0: return .served
        // timeout(1); SIGKILL and SIGALRM behind 128, or behind 256 as ksh93 has it.
        case 124, 137, 142, 265, 270: return .timedOut
        case 1 where !isListed: return .notRunning
        default: return .failed(status: status)
        }
    }
}
