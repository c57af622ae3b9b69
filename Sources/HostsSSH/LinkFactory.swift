package import HostsLog
package import HostsModel

/// Makes links: the one thing that the composition of the daemon takes from this module, beside the event
/// loop.
package struct LinkFactory: LinkConnector {
    let resources: LinkResources
    /// The same for all hosts.
    package let settings: LinkSettings
    private let program: ShellProgram
    private let log: Log

    /// Makes a factory.
    ///
    /// - Parameters:
    ///   - resources: What all links share, those of earlier factories included.
    ///   - settings: The same for all hosts.
    ///   - program: What every shell is given before the first request.
    ///   - log: Of the category `ssh`; used at `debug` only.
    package init(resources: LinkResources, settings: LinkSettings, program: ShellProgram, log: Log) {
        self.resources = resources
        self.settings = settings
        self.program = program
        self.log = log
    }

    /// Dials, logs in and opens the shell of one host.
    ///
    /// Cancelling the task ends the attempt with `.cancelled`; whatever it had opened by then is closed.
    package func connect(to record: HostRecord, token: Int) async throws(LinkError) -> any ProbeLink {
        let attempt = LinkAttempt(
            record: record, token: token, resources: resources, settings: settings, program: program,
            log: log)
        let link: any ProbeLink
        switch record.transport {
        case .local: link = try await attempt.openLocal()
        case .auto, .libssh2, .openssh: link = try await attempt.openRemote()
        }
        guard Task.isCancelled else { return link }
        // Nobody waits for it any more.
        link.close(.cancelled)
        throw .cancelled
    }

    /// Somebody who looks after one host on behalf of its person.
    func visit(_ record: HostRecord) -> HostVisit {
        let (log, id) = (log, record.id)
        let dialer = SessionDialer(
            resources: resources, settings: settings, mayUseOpenSSH: false,
            report: { log.debug($0, $1, .host(id), .took($2)) }, warn: { log.warning($0, $1, .host(id)) })
        return HostVisit(record: record, resources: resources, settings: settings, dialer: dialer)
    }
}
