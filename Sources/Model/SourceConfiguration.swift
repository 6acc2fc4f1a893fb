package import AppleClientSecret

/// The place from which a client without a private key receives its secrets.
package struct SourceConfiguration: Hashable, Sendable {
    package var place: Place
    /// How long before its expiry a received secret should have been replaced; nil: a third of its life.
    package var renewBefore: Seconds?
    /// Over how long machines that receive the same secret spread their deliveries; 0: each delivers at once.
    package var deliverOver: Seconds = 0

    package init(path: AbsolutePath, format: FileFormat, slot: FileSlot = .whole, renewBefore: Seconds? = nil) {
        self.init(.file(FileSource(path: path, format: format, slot: slot)), renewBefore: renewBefore)
    }

    package init(_ place: Place, renewBefore: Seconds? = nil) {
        self.place = place
        self.renewBefore = renewBefore
    }

    package enum Place: Hashable, Sendable {
        case file(FileSource)
        /// The places of the client and each of its keys in the configuration's store.
        case store
    }

    /// Whether it is the store.
    package var isStore: Bool { place == .store }

    /// The file; nil for the store.
    package var file: FileSource? {
        if case .file(let file) = place { file } else { nil }
    }

    /// The file's path; nil for the store.
    package var path: AbsolutePath? { file?.path }
}

/// A file from which secrets are received, and which another program renews.
package struct FileSource: Hashable, Sendable {
    package let path: AbsolutePath
    package let format: FileFormat
    /// The place of the secret in it.
    package let slot: FileSlot

    package init(path: AbsolutePath, format: FileFormat, slot: FileSlot) {
        self.path = path
        self.format = format
        self.slot = slot
    }
}
