import HostsConfig
import HostsDetection
import HostsLog
import HostsSSH

/// What links are made of, apart from the settings.
struct LinkParts: Sendable {
    let resources: LinkResources
    let environment: [String: String]
    let log: Log

    func factory(_ settings: Settings) -> LinkFactory {
        LinkFactory(
            resources: resources, settings: LinkSettings(settings, environment: environment),
            program: HostDetector.program, log: log)
    }
}
