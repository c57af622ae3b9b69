package import HostsModel

/// The rules of every agent that is looked for.
package struct RuleBook: Sendable {
    /// Sorted by name; one entry per agent.
    package let agents: [CompiledRules]

    /// Whether both say the same of the same agents.
    package func isSame(as other: RuleBook) -> Bool { agents.map(\.rules) == other.agents.map(\.rules) }

    /// Makes a book of rules that are good; of two for the same agent the later counts.
    package init(_ agents: [CompiledRules]) {
        var byName: [AgentName: CompiledRules] = [:]
        for agent in agents { byName[agent.rules.name] = agent }
        self.agents = byName.values.sorted { $0.rules.name < $1.rules.name }
    }

    /// The rules of one agent, if there are any.
    package subscript(name: AgentName) -> CompiledRules? { agents.first { $0.rules.name == name } }
}
