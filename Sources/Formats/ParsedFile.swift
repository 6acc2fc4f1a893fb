package import Model

/// What a file was found to hold.
package struct ParsedFile: Sendable {
    package enum Content: Hashable, Sendable {
        /// Bytes that may be a token.
        case token([UInt8])
        /// Anything else: damage, or two different values for one variable.
        case foreign
        /// What programs read there differs, or must not be replaced; and why.
        case unclear(FormatError)
    }

    /// A slot that is missing here is absent.
    package var slots: [FileSlot: Content]
    /// Whether the file holds anything else.
    package var otherLines = false
    /// Whether the file is exactly as this format writes it, or needs no change.
    package var isExact = true
}
