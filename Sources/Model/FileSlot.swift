/// One output's place in a file.
package enum FileSlot: Hashable, Sendable {
    /// The file is only about this secret.
    case whole
    case variable(String)

    /// Nil: the whole file.
    package init(variable: String?) {
        self = variable.map { .variable($0) } ?? .whole
    }

    /// The variable of an environment file; nil if the whole file is the secret.
    package var variable: String? {
        if case .variable(let name) = self { name } else { nil }
    }
}
