package import AppleClientSecret
package import Linux
package import Rotation

/// What a file was found to hold when it was read back.
package struct OutputContents: Sendable {
    package var exists: Bool
    /// Whether an environment file holds anything besides the variables of ours.
    package var otherLines: Bool
    /// Whether mode and group are what the configuration says, and the owner is who writes it.
    package var isAsConfigured: Bool
    /// Equal: the file was not touched since. Nil when there is no file.
    package var identity: FileIdentity?
    /// Where it really lies, links followed.
    package var realPath: String
    /// A slot that is missing here is absent.
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

    /// What the core is told: every token is named by what `issued` knows of it, and what it does not know is foreign.
    package func observe(_ issued: (Token) -> SecretInfo?) -> FileObservation {
        let observations = slots.mapValues { contents -> SlotObservation in
            guard case .token(let token) = contents, let known = issued(token) else { return .foreign }
            return .secret(known)
        }
        return FileObservation(
            slots: observations, otherLines: otherLines, isAsConfigured: isAsConfigured, exists: exists)
    }
}

/// What stands in one place of a file.
package enum SlotContents: Sendable {
    case token(Token)
    /// Anything else: damage, or two different values for one variable.
    case foreign
}
