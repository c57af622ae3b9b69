import HostsAPI

/// Puts pages, documents and errors where they belong, in the form that was asked for.
final class Output {
    private let world: World
    private var colour = ColourChoice.auto
    private(set) var isQuiet = false
    private(set) var isJSON = false
    /// Whether the output could not be written; nothing more is tried then.
    private(set) var isBroken = false

    init(world: World) {
        self.world = world
    }

    /// Takes the form from a command line.
    func take(_ invocation: Invocation) {
        colour = invocation.values[.color].flatMap(ColourChoice.init) ?? .auto
        isQuiet = invocation.has(.quiet)
        isJSON = invocation.has(.json)
    }

    /// The appearance of a page that is shown now.
    var appearance: Appearance {
        Appearance(
            width: world.outputWidth,
            isColoured: colour.isColoured(environment: world.environment, isTerminal: world.outputIsTerminal),
            isQuiet: isQuiet, now: world.now(), localTime: world.localTime)
    }

    /// Writes a page for people.
    func write(_ lines: [StyledText]) {
        write(appearance.text(lines))
    }

    /// Writes a page for people in the place of everything that the terminal shows; behind it where there is none.
    func replace(_ lines: [StyledText]) {
        // Home, and clear to the end (ECMA-48, CUP and ED).
        write((world.outputIsTerminal ? "\u{1b}[H\u{1b}[2J" : "") + appearance.text(lines))
    }

    func write(_ text: String) {
        write(Array(text.utf8))
    }

    /// Writes a document as the daemon sent it, on lines of its own.
    func write(document: [UInt8]) {
        write(document.last == 0x0a ? document : document + [0x0a])
    }

    private func write(_ bytes: [UInt8]) {
        guard !bytes.isEmpty, !isBroken else { return }
        isBroken = !world.console.write(bytes, to: .output)
    }

    /// Reports an error of the client.
    ///
    /// - Parameters:
    ///   - error: What went wrong.
    ///   - subject: What it is about, such as a host.
    /// - Returns: The exit code.
    func report(_ error: ClientError, about subject: String?) -> ExitCode {
        if isJSON, case .refused(_, _, let body) = error { write(document: body) }
        let words = ErrorWords(error)
        report((subject.map { $0 + ": " } ?? "") + words.message, hint: words.hint)
        return words.code
    }

    /// Reports an error and what helps.
    func report(_ message: String, hint: String?) {
        var lines = [StyledText("hostsctl: ", .strong) + StyledText(foreign: message)]
        if let hint, !isQuiet { lines.append(StyledText("hint: ", .faint) + StyledText(foreign: hint)) }
        writeError(lines)
    }

    /// Tells something that is no error.
    func notice(_ message: String) {
        guard !isQuiet else { return }
        writeError([StyledText("hostsctl: ", .faint) + StyledText(foreign: message)])
    }

    private func writeError(_ lines: [StyledText]) {
        let isColoured = colour.isColoured(environment: world.environment, isTerminal: world.errorIsTerminal)
        let text = lines.map { $0.rendered(colour: isColoured) + "\n" }.joined()
        // There is nobody left to tell if this fails.
        _ = world.console.write(Array(text.utf8), to: .error)
    }
}
