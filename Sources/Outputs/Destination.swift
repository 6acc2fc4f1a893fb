package import AppleClientSecret
package import Model

/// A file that secrets are published to.
///
/// Each kind of output is a type of its own: ``OwnFile`` for files of the daemon's user, `UserFile` (UserWriter) for those of
/// other users. Rules of only one kind stay in its type. The credential socket is no destination: it writes nothing; units ask
/// it for their secrets (`CredentialServer`).
package protocol Destination: Sendable {
    /// Reads back its content; a missing file is no failure. Blocks.
    func observe() throws(Failure) -> OutputContents

    /// The secrets found by programs that follow every link and trust every directory, for an output that ``observe()``
    /// refuses. They only decide how the secrets are judged. Throws if that cannot be known. Blocks.
    func look() throws(Failure) -> [FileSlot: SlotContents]

    /// Writes these secrets into their slots, all at once, and reads everything back. Blocks.
    ///
    /// - Parameters:
    ///   - mayCreate: whether the whole content may be written again. Otherwise a missing shared file is
    ///     ``Failure/Code/outputDeleted``, one without any line of a variable ``Failure/Code/outputEmptied``, and a file with
    ///     something else than a secret ``Failure/Code/outputForeign``.
    ///   - overWriters: whether to replace a file that another program has open for writing. Otherwise it is
    ///     ``Failure/Code/openForWriting``.
    func publish(_ secrets: [FileSlot: Secret], mayCreate: Bool, overWriters: Bool) throws(Failure) -> OutputContents

    /// Why it could not be written; nil when no reason is known. Changes nothing. Blocks.
    func problem(mayCreate: Bool) -> Failure?
}

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
