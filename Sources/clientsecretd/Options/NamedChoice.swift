import ArgumentParser

/// The value of a flag that is one of several, each with a name.
protocol NamedChoice: ExpressibleByArgument {
    static var choices: [Self] { get }

    var name: String { get }
}

extension NamedChoice {
    init?(argument: String) {
        guard let choice = Self.choices.first(where: { $0.name == argument }) else { return nil }
        self = choice
    }

    static var allValueStrings: [String] { choices.map(\.name) }
    static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }

    var defaultValueDescription: String { name }
}
