import HostsTestSupport
import Testing

/// Runs each test of a suite on a thread of its own: its tests block or work for long, and must not hold up those of others.
struct OwnThread: SuiteTrait, TestTrait, TestScoping {
    var isRecursive: Bool { true }

    @concurrent func provideScope(
        for test: Test, testCase: Test.Case?,
        performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(OwnThreadExecutor()) { try await function() }
    }
}

extension Trait where Self == OwnThread {
    /// Each test runs on a thread of its own.
    static var ownThread: OwnThread { OwnThread() }
}
