/// How long to wait before the bus is tried again: twice as long each time, up to a limit.
struct ReconnectPause: Hashable, Sendable {
    let first: Duration
    let longest: Duration
    private var latest: Duration?

    init(first: Duration, longest: Duration) {
        self.first = first
        self.longest = longest
    }

    /// The pause after one more failure.
    mutating func next() -> Duration {
        let pause = min(latest.map { $0 * 2 } ?? first, longest)
        latest = pause
        return pause
    }

    /// Takes that the bus has answered: the next pause is the first again.
    mutating func succeeded() {
        latest = nil
    }
}
