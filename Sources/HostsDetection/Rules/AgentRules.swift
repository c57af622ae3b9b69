package import HostsModel

/// What is known about one agent program: how its process, its title and its screen look.
///
/// Data, read from a rule file.
package struct AgentRules: Hashable, Sendable {
    /// The version of the rule format that this program reads.
    package static let schema = 1

    package var name: AgentName
    /// Whatever tells two editions of the rules apart, such as a date; shown to people.
    package var revision: String
    package var versions: VersionRange
    package var process: ProcessIdentity
    package var layout: ScreenLayoutRules
    package var stateFile: StateFileRules?
    package var turnLog: TurnLogRules?
    /// How long a screen that says nothing about the turn keeps the state before it.
    package var keepPrevious: Duration
    /// A title without busy sign proves a turn end, once the same session has shown one with it.
    package var idleTitleIsStrong: Bool
    /// A screen that no rule knows, and that has changed since the look before, shows work: for agents that stream
    /// their answer without any sign of it.
    package var movingIsBusy: Bool
    package var rules: [ScreenRule]

    package init(
        name: AgentName, revision: String, versions: VersionRange = VersionRange(), process: ProcessIdentity,
        layout: ScreenLayoutRules = ScreenLayoutRules(), stateFile: StateFileRules? = nil,
        turnLog: TurnLogRules? = nil,
        keepPrevious: Duration = .seconds(600), idleTitleIsStrong: Bool = false, movingIsBusy: Bool = false,
        rules: [ScreenRule]
    ) {
        self.name = name
        self.revision = revision
        self.versions = versions
        self.process = process
        self.layout = layout
        self.stateFile = stateFile
        self.turnLog = turnLog
        self.keepPrevious = keepPrevious
        self.idleTitleIsStrong = idleTitleIsStrong
        self.movingIsBusy = movingIsBusy
        self.rules = rules
    }
}

/// A PCRE2 pattern as it was written, with the place where it stands.
package struct RulePattern: Hashable, Sendable {
    package let text: String
    package let location: SourceLocation

    package init(_ text: String, at location: SourceLocation) {
        self.text = text
        self.location = location
    }
}

/// How an agent's process is told from all others.
package struct ProcessIdentity: Hashable, Sendable {
    /// Base names of the program or of the script that an interpreter runs.
    package var names: [String]
    /// Patterns on the whole path of the program or script.
    package var paths: [RulePattern]
    /// An argument that makes it something else than an interactive agent, wherever it stands.
    package var excludedArguments: [String]
    /// A first argument (options left out) that does.
    package var excludedCommands: [String]

    package init(
        names: [String], paths: [RulePattern] = [], excludedArguments: [String] = [],
        excludedCommands: [String] = []
    ) {
        self.names = names
        self.paths = paths
        self.excludedArguments = excludedArguments
        self.excludedCommands = excludedCommands
    }
}

/// Where the parts of an agent's screen are.
package struct ScreenLayoutRules: Hashable, Sendable {
    /// The shapes that the composer may have, such as those of different versions; the first one found counts.
    package var composers: [ComposerShape]
    /// The row below which a dialog stands; nil: a dialog may use the whole screen.
    package var dialogStart: RulePattern?

    package init(composers: [ComposerShape] = [], dialogStart: RulePattern? = nil) {
        self.composers = composers
        self.dialogStart = dialogStart
    }
}

/// How the box is recognised in which the person types.
///
/// What stands in it is never searched for a state.
package struct ComposerShape: Hashable, Sendable {
    /// The first row of the draft.
    package var prompt: RulePattern
    /// What looks like a prompt but is none, such as an option row.
    package var notPrompt: RulePattern?
    /// The row directly above the draft.
    package var top: RulePattern?
    /// The row directly below the draft.
    ///
    /// With it, `footerRows` bounds what may follow.
    package var bottom: RulePattern?
    /// What every row of the draft looks like.
    ///
    /// Without `top` the draft reaches from `bottom` up as far as rows look like this.
    package var row: RulePattern?
    /// Without `bottom`: what every row below the prompt looks like.
    package var continuation: RulePattern?
    /// If the last row looks like this, there is no composer.
    package var absentAbove: RulePattern?
    /// Most non-empty rows below `bottom`.
    package var footerRows: Int

    package init(
        prompt: RulePattern, notPrompt: RulePattern? = nil, top: RulePattern? = nil,
        bottom: RulePattern? = nil, row: RulePattern? = nil,
        continuation: RulePattern? = nil, absentAbove: RulePattern? = nil, footerRows: Int = 6
    ) {
        self.prompt = prompt
        self.notPrompt = notPrompt
        self.top = top
        self.bottom = bottom
        self.row = row
        self.continuation = continuation
        self.absentAbove = absentAbove
        self.footerRows = footerRows
    }
}

/// One thing to see on a screen, and what it means.
package struct ScreenRule: Hashable, Sendable {
    /// When a rule is asked; the first stage in which one matches decides.
    package enum Stage: String, Hashable, Sendable, CaseIterable {
        /// A structural dialog.
        case dialog
        /// A title that asks for the person.
        case blockedTitle = "blocked-title"
        /// A title that shows work.
        case title
        /// The row that shows work.
        case statusRow = "status-row"
        /// A key hint that only shows during a turn.
        case footer
        /// An error that stands after the turn has stopped.
        case standingRow = "standing-row"
        /// The composer, and what proves that the turn has ended.
        case composer
        /// A screen that says nothing about the turn.
        case viewer
    }

    /// What a match means.
    package enum Meaning: Hashable, Sendable {
        case busy, idle
        case needsYou(NeedsYouReason)
        /// The state before holds, with an age limit.
        case previous

        /// The state that it says; nil where it says only that the state before holds.
        package var state: AgentState? {
            switch self {
            case .busy: .busy
            case .idle: .idle
            case .needsYou(let reason): .needsYou(reason)
            case .previous: nil
            }
        }
    }

    /// Unique in its file; evidence names it.
    package var name: String
    package var stage: Stage
    package var meaning: Meaning
    package var strength: Evidence.Strength
    /// Flags of an idle session that a match proves.
    package var flags: Set<SessionFlag>
    /// The end of this busy time is no turn end: the agent starts up.
    package var isQuiet: Bool
    /// The need may be met without the person, such as by a reviewing program: it has to last for one look
    /// before anyone is told.
    package var isDwelling: Bool
    /// All of these hold.
    package var when: [ScreenCondition]
    /// None of these holds.
    package var unless: [ScreenCondition]

    package init(
        name: String, stage: Stage, meaning: Meaning, strength: Evidence.Strength = .weak,
        flags: Set<SessionFlag> = [], isQuiet: Bool = false, isDwelling: Bool = false,
        when: [ScreenCondition],
        unless: [ScreenCondition] = []
    ) {
        self.name = name
        self.stage = stage
        self.meaning = meaning
        self.strength = strength
        self.flags = flags
        self.isQuiet = isQuiet
        self.isDwelling = isDwelling
        self.when = when
        self.unless = unless
    }
}

/// Some row of a region looks like the pattern.
package struct ScreenCondition: Hashable, Sendable {
    /// A part of what is shown; never the scrollback.
    package enum Region: String, Hashable, Sendable, CaseIterable {
        case title
        /// Every visible row.
        case screen
        /// The rows above the composer; empty without a composer.
        case body
        /// The draft.
        case composer
        /// The row directly below the draft: the lower edge of a box, with what is written in it.
        case border
        /// The rows below the composer, its lower edge left out.
        case footer
        /// What stands in the composer's place; empty with a composer.
        case dialog
    }

    package var region: Region
    /// Only the last so many rows that are not empty; nil: all.
    package var rows: Int?
    /// Only rows below the last one that looks like this.
    package var after: RulePattern?
    package var pattern: RulePattern

    package init(region: Region, rows: Int? = nil, after: RulePattern? = nil, pattern: RulePattern) {
        self.region = region
        self.rows = rows
        self.after = after
        self.pattern = pattern
    }
}
