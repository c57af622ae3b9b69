import CLinux
import Glibc

/// What the person or the service manager wants of the process.
package enum ProcessSignal: Hashable, Sendable, CaseIterable {
    /// SIGTERM: stop in good order.
    case terminate
    /// SIGINT: the same, from a terminal.
    case interrupt
    /// SIGHUP: read the configuration again.
    case reload

    var number: Int32 {
        switch self {
        case .terminate: SIGTERM
        case .interrupt: SIGINT
        case .reload: SIGHUP
        }
    }
}

/// The signals of the process as a stream.
package enum ProcessSignals {
    /// How many signals wait for the reader; what came earlier than that is forgotten.
    package static let backlog = 16

    /// Catches SIGTERM, SIGINT and SIGHUP from now on, and makes SIGPIPE harmless.
    ///
    /// Once for a process; the handlers stay until it ends, and its children start with the default ones.
    ///
    /// - Returns: The signals in the order in which they came.
    /// - Throws: When the handlers cannot be set, or are set already.
    package static func catching() throws(SystemFailure) -> AsyncStream<ProcessSignal> {
        let numbers = ProcessSignal.allCases.map(\.number)
        let descriptor = unsafe hosts_signals_catch(numbers, numbers.count)
        guard descriptor >= 0 else { throw .call("catching signals", code: errno) }
        let (stream, continuation) = AsyncStream<ProcessSignal>.makeStream(
            bufferingPolicy: .bufferingNewest(backlog))
        try SystemFailure.startThread { forward(from: descriptor, to: continuation) }
        return stream
    }

    private static func forward(
        from descriptor: Int32, to continuation: AsyncStream<ProcessSignal>.Continuation
    ) {
        var byte: UInt8 = 0
        while true {
            let count = unsafe read(descriptor, &byte, 1)
            if count < 0, errno == EINTR { continue }
            // The other end is never closed while the process lives.
            guard count == 1 else { return continuation.finish() }
            let number = Int32(byte)
            if let signal = ProcessSignal.allCases.first(where: { $0.number == number }) {
                continuation.yield(signal)
            }
        }
    }
}
