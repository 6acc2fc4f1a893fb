package import AppleClientSecret
package import Model

/// The content of a file when it was read back.
package struct OutputContents: Sendable {
    package var exists: Bool
    /// Whether an environment file holds anything but our variables.
    package var otherLines: Bool
    /// Whether mode and group are as configured, and its writer is the owner.
    package var isAsConfigured: Bool
    /// Whether the content is as the format writes it, or may stay unchanged. If not, it is not as configured either.
    package var isExact: Bool
    /// Its path with all links resolved.
    package var realPath: String
    /// Whether watching the file's directory gives the daemon notice of changes.
    package var isWatchable: Bool
    /// Slots that the file lacks are missing.
    package var slots: [FileSlot: SlotContents]
    /// Why no edit of the file could write into some slots.
    package var editFailures: [FileSlot: Failure]

    package init(
        exists: Bool, otherLines: Bool, isAsConfigured: Bool, isExact: Bool = true, realPath: String,
        isWatchable: Bool = true, slots: [FileSlot: SlotContents], editFailures: [FileSlot: Failure] = [:]
    ) {
        self.exists = exists
        self.otherLines = otherLines
        self.isAsConfigured = isAsConfigured
        self.isExact = isExact
        self.realPath = realPath
        self.isWatchable = isWatchable
        self.slots = slots
        self.editFailures = editFailures
    }

    /// The observation for the core, with the result of `recognise` for each token; all else is no token.
    package func observe(_ recognise: (Token) -> SlotObservation) -> FileObservation {
        FileObservation(
            slots: slots.mapValues { $0.observe(recognise) }, editFailures: editFailures, otherLines: otherLines,
            isAsConfigured: isAsConfigured, isExact: isExact, exists: exists)
    }
}

/// The content of one slot of a file.
package enum SlotContents: Sendable {
    case token(Token)
    /// Anything else, such as two different values for one variable.
    case foreign

    /// The observation for the core, with the result of `recognise` for a token.
    package func observe(_ recognise: (Token) -> SlotObservation) -> SlotObservation {
        if case .token(let token) = self { recognise(token) } else { .foreign }
    }
}
