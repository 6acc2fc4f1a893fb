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
