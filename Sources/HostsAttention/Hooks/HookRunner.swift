import HostsModel
import HostsProcess

/// How a hook ended.
package enum HookResult: Hashable, Sendable {
    /// Exit 0.
    case delivered
    /// Exit 75 (EX_TEMPFAIL): the hook asks to be run again later.
    case retryLater
    /// Exit 78 (EX_CONFIG): running it again helps only after the person has changed something.
    case misconfigured
    /// Any other end; the words say which.
    case failed(String)

    /// A few words for people.
    package var note: String {
        switch self {
        case .delivered: "delivered"
        case .retryLater: "asks to be run again later (exit 75)"
        case .misconfigured: "says that it is misconfigured (exit 78)"
        case .failed(let reason): reason
        }
    }
}

/// What one run of a hook came to.
package struct HookReport: Hashable, Sendable {
    package let result: HookResult
    /// The last lines of its output and of its error output, bounded and made visible.
    package let lines: [String]
    package let duration: Duration

    package init(result: HookResult, lines: [String] = [], duration: Duration = .zero) {
        self.result = result
        self.lines = lines
        self.duration = duration
    }
}

/// Tells a hook of an event.
package protocol HookRunning: Sendable {
    /// Runs the hook to its end.
    ///
    /// - Parameters:
    ///   - hook: The program.
    ///   - event: What it is told.
    ///   - attempt: Counts from 1.
    /// - Returns: How it ended, or nil when the task was cancelled.
    func run(_ hook: Hook, _ event: AttentionEvent, attempt: Int) async -> HookReport?
}

/// Runs hooks as child processes: the event's kind as argument, facts in the environment, JSON on standard input.
package struct HookRunner: HookRunning {
    /// How long a hook may run unless the settings say otherwise.
    package static let timeout = Duration.seconds(30)

    private static let outputLimit = ByteCount.kibibytes(16)
    private static let lineLimit = 5
    private static let temporaryFailure: Int32 = 75
    private static let configurationError: Int32 = 78

    private let environment: HookEnvironment
    private let timeout: Duration

    /// Makes a runner.
    ///
    /// - Parameters:
    ///   - environment: What every hook finds in its environment.
    ///   - timeout: How long a hook may run.
    package init(environment: HookEnvironment, timeout: Duration = HookRunner.timeout) {
        self.environment = environment
        self.timeout = timeout
    }

    package func run(_ hook: Hook, _ event: AttentionEvent, attempt: Int) async -> HookReport? {
        let document: [UInt8]
        do { document = try EventDocument(event: event).json() } catch {
            return HookReport(result: .failed("the event could not be written as JSON: \(error)"))
        }
        do throws(ChildError) {
            let outcome = try await ChildProcess.run(
                program: hook.path, arguments: [event.kind.rawValue],
                environment: environment.variables(for: event, attempt: attempt), input: document,
                deadline: .now + timeout, outputLimit: Self.outputLimit, keeping: .last)
            return HookReport(
                result: result(of: outcome.ending), lines: lines(outcome.output) + lines(outcome.errorOutput),
                duration: outcome.duration)
        } catch {
            guard error != .cancelled else { return nil }
            return HookReport(result: .failed(error.message))
        }
    }

    private func result(of ending: ChildOutcome.Ending) -> HookResult {
        switch ending {
        case .exited(0): .delivered
        case .exited(Self.temporaryFailure): .retryLater
        case .exited(Self.configurationError): .misconfigured
        case .exited(let status): .failed("exit \(status)")
        case .signalled(let signal): .failed("signal \(signal)")
        case .timedOut: .failed("stopped after \(EventSummary.length(timeout))")
        }
    }

    private func lines(_ output: [UInt8]) -> [String] {
        output.split(separator: UInt8(ascii: "\n")).suffix(Self.lineLimit)
            .map { SafeText.visible(bytes: $0) }.filter { !$0.isEmpty }
    }
}
