import HostsHub
import HostsSystem

/// Hands what happens to the machine to those who act on it, in order: the one listener of the one observer.
struct LifecycleConductor: Sendable {
    let observer: LifecycleObserver
    let hub: ConnectionHub
    let background: BackgroundActivity
    let service: ServiceManager

    /// Works until the observer ends.
    func run() async {
        var isNetworkKnown = false
        for await event in observer.events {
            switch event {
            case .phase(let phase): await hub.setPhase(phase)
            case .willSleep:
                // The watchdog may count on while the machine sleeps.
                service.ping()
                await background.willSleep()
            case .woke:
                service.ping()
                await background.woke()
            case .networkChanged(let hasRoute):
                // The first word tells how things are; nothing has changed by it.
                if isNetworkKnown {
                    await hub.networkChanged(hasRoute: hasRoute)
                } else {
                    await hub.takeNetwork(hasRoute: hasRoute)
                }
                isNetworkKnown = true
            case .managerChanged(let isPresent): await background.managerChanged(isPresent: isPresent)
            case .clockSet: await hub.checkLinks()
            }
        }
    }
}
