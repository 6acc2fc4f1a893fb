/// One output's place in a file.
package enum Slot: Hashable, Sendable {
    /// The file is only about this secret.
    case whole
    case variable(String)
}
