package import Model

/// The content that was found in a file.
package struct ParsedFile: Sendable {
    package enum Content: Hashable, Sendable {
        /// Bytes that may be a token.
        case token([UInt8])
        /// Anything else: damage, or two different values for one variable.
        case foreign
        /// Programs read different values there, or it must not be replaced; and why.
        case unclear(FormatError)
    }

    /// A slot that is missing here is absent.
    package var slots: [FileSlot: Content]
    /// Whether the file holds anything else.
    package var otherLines = false
    /// Whether the file is exactly as this format writes it, or needs no change.
    package var isExact = true
}
