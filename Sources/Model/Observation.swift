package import AppleClientSecret

/// The content of a file when it was read.
package struct FileObservation: Hashable, Sendable {
    /// Slots missing here are absent from the file.
    package var slots: [FileSlot: SlotObservation]
    /// Why no edit of a shared file could write into some slots. The others can be written, all at once.
    package var editFailures: [FileSlot: Failure]
    /// Whether an environment file holds lines other than our variables.
    package var otherLines: Bool
    /// Whether mode and group are as configured.
    package var isAsConfigured: Bool
    /// Whether the content is as the format writes it, or may stay unchanged. If not, it is not as configured either.
    package var isExact: Bool
    package var exists: Bool

    package init(
        slots: [FileSlot: SlotObservation], editFailures: [FileSlot: Failure] = [:], otherLines: Bool = false,
        isAsConfigured: Bool = true, isExact: Bool = true, exists: Bool = true
    ) {
        self.slots = slots
        self.editFailures = editFailures
        self.otherLines = otherLines
        self.isAsConfigured = isAsConfigured
        self.isExact = isExact
        self.exists = exists
    }
}

extension FileObservation {
    /// Whether a slot holds a secret.
    package var holdsSecret: Bool { slots.values.contains { $0.issued != nil } }
}

/// The content of a source when it was read.
package enum SourceObservation: Hashable, Sendable {
    case secret(SecretInfo)
    /// There is no file, or it is empty.
    case missing
    /// The file has no such variable, and why, as the end of a sentence.
    case absent(String)
    /// Something that is no client secret, as a description without any of its bytes.
    case foreign(String)
    /// This machine may not see its content.
    case refused
}

/// The content of a slot when its file was read.
package enum SlotObservation: Hashable, Sendable {
    case secret(SecretInfo)
    /// Something that is no client secret of a form that Apple accepts, and why it is none; nil if it is not even a
    /// token.
    case unusable(Objection?)

    /// Something that is no token.
    package static let foreign = SlotObservation.unusable(nil)

    package var issued: SecretInfo? {
        if case .secret(let issued) = self { issued } else { nil }
    }
}
