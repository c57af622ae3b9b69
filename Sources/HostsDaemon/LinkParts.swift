import HostsConfig
import HostsDetection
import HostsLog
import HostsSSH

/// What links are made of, apart from the settings.
struct LinkParts: Sendable {
    let loop: EventLoop
    let environment: [String: String]
    let log: Log

    func factory(_ settings: Settings) -> LinkFactory {
        LinkFactory(
            loop: loop, settings: LinkSettings(settings, environment: environment),
            program: HostDetector.program, log: log)
    }
}
