package import HostsModel

/// How a page is shown: everything about the output that is not its content.
package struct Appearance: Sendable {
    /// Cells of the terminal; nil for a pipe, where nothing is cut.
    package let width: Int?
    package let isColoured: Bool
    /// No headings, hints or notices.
    package let isQuiet: Bool
    package let now: WallTime
    package let localTime: LocalTime

    package init(width: Int?, isColoured: Bool, isQuiet: Bool, now: WallTime, localTime: LocalTime) {
        self.width = width
        self.isColoured = isColoured
        self.isQuiet = isQuiet
        self.now = now
        self.localTime = localTime
    }

    /// The time that has passed since a point in time.
    func age(of time: WallTime) -> Duration { now.duration(since: time) }

    /// The lines as text, each with its end.
    func text(_ lines: [StyledText]) -> String {
        lines.map { $0.rendered(colour: isColoured) + "\n" }.joined()
    }

    /// A table by this appearance.
    func lines(_ table: Table) -> [StyledText] { table.lines(width: width, heading: !isQuiet) }
}
