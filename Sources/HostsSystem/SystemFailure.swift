import HostsPOSIX

/// A call to the system that failed, with the number it gave.
package enum SystemFailure: Error, Hashable, Sendable {
    case call(String, code: Int32)
}

extension SystemFailure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .call(let name, let code): "\(name) failed: \(SystemError.text(code))"
        }
    }
}

extension SystemFailure {
    /// Starts a thread for a loop that waits in the system.
    static func startThread(_ body: sending @escaping () -> Void) throws(SystemFailure) {
        do throws(SystemError) {
            try DedicatedThread.start(body)
        } catch {
            throw .call("pthread_create", code: error.code)
        }
    }
}
