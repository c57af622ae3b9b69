/// Limits for a test of what happens at a limit, when something else must have happened before it.
///
/// How long that takes depends on the load of the machine: the test is tried with a longer limit when the shorter one
/// did not suffice. What is wrong stays wrong with all of them.
package enum Patience {
    /// Each several times the one before.
    package static let limits: [Duration] = [.milliseconds(300), .seconds(1), .seconds(5), .seconds(20)]

    /// Tries with one limit after the other.
    ///
    /// - Parameters:
    ///   - attempt: What is tried with a limit.
    ///   - isEnough: Whether the limit was long enough.
    /// - Returns: What the first attempt that had enough time gave, or the last one.
    /// - Throws: What the attempt throws.
    package static func attempt<Value>(
        _ attempt: (Duration) async throws -> Value, until isEnough: (Value) -> Bool
    ) async throws -> Value {
        for limit in limits.dropLast() {
            let value = try await attempt(limit)
            if isEnough(value) { return value }
        }
        return try await attempt(limits[limits.count - 1])
    }
}
