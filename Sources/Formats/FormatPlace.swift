/// Where in a file one secret is.
package enum FormatPlace: Hashable, Sendable {
    /// The file is only about this secret.
    case whole
    case variable(String)
}
