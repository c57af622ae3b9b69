import HostsAPI

/// A notifier hook in the words of people.
struct HookWords {
    let hook: HookView

    /// `ready, 3 waiting, 1 given up`, or what is wrong.
    var state: StyledText {
        var state = hook.usable ? StyledText("ready", .good) : StyledText("not usable", .bad)
        if hook.pending > 0 { state += StyledText(", \(hook.pending) waiting", .caution) }
        if hook.dead > 0 { state += StyledText(", \(hook.dead) given up", .bad) }
        if let problem = hook.problem { state += StyledText(foreign: ": " + problem) }
        return state
    }
}

/// `hostsctl hooks`.
struct HooksPage {
    let document: HookList
    let appearance: Appearance

    var lines: [StyledText] {
        guard !document.hooks.isEmpty else {
            return appearance.isQuiet
                ? []
                : [
                    "no hooks: alerts reach nobody",
                    StyledText("hint: ", .faint)
                        + "put an executable into hooks.d of the configuration folder",
                ]
        }
        var table = Table("HOOK", "STATE", "WAITING", "GIVEN UP", "PROBLEM")
        for hook in document.hooks {
            table.add([
                StyledText(foreign: hook.name, .strong),
                hook.usable ? StyledText("●", .good) + " ready" : StyledText("×", .bad) + " not usable",
                StyledText(String(hook.pending), hook.pending > 0 ? .caution : .plain),
                StyledText(String(hook.dead), hook.dead > 0 ? .bad : .plain),
                hook.problem.map { StyledText(foreign: $0) } ?? StyledText(),
            ])
        }
        return appearance.lines(table)
    }
}
