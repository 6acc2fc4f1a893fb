package import AppleClientSecret
package import Linux
package import Rotation

/// What a file held when it was read back.
package struct OutputContents: Sendable {
    package var exists: Bool
    /// Whether an environment file holds anything besides our variables.
    package var otherLines: Bool
    /// Whether mode and group are as configured, and the owner is the user who writes it.
    package var isAsConfigured: Bool
    /// Stays equal until the file is changed. Nil when there is no file.
    package var identity: FileIdentity?
    /// Its path with all links resolved.
    package var realPath: String
    /// Slots that the file lacks are missing.
    package var slots: [Slot: SlotContents]

    package init(
        exists: Bool, otherLines: Bool, isAsConfigured: Bool, identity: FileIdentity?, realPath: String,
        slots: [Slot: SlotContents]
    ) {
        self.exists = exists
        self.otherLines = otherLines
        self.isAsConfigured = isAsConfigured
        self.identity = identity
        self.realPath = realPath
        self.slots = slots
    }

    /// The observation for the core: the ``SecretInfo`` that `issued` gives for each token; all else is foreign.
    package func observe(_ issued: (Token) -> SecretInfo?) -> FileObservation {
        let observations = slots.mapValues { contents -> SlotObservation in
            guard case .token(let token) = contents, let known = issued(token) else { return .foreign }
            return .secret(known)
        }
        return FileObservation(
            slots: observations, otherLines: otherLines, isAsConfigured: isAsConfigured, exists: exists)
    }
}

/// The content of one slot of a file.
package enum SlotContents: Sendable {
    case token(Token)
    /// Anything else, such as two different values for one variable.
    case foreign
}
