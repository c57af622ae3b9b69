import HostsModel

/// Jitter that is always the same.
package struct FixedJitter: JitterSource {
    private let value: Double

    /// Makes a source of one number.
    ///
    /// - Parameter value: In `0..<1`.
    package init(_ value: Double) {
        self.value = value
    }

    package func next() -> Double { value }
}
