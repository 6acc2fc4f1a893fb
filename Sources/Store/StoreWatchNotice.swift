package import AppleClientSecret

/// A notice that the role sends without a request, on a line of its own between answers.
package enum StoreWatchNotice: String, Hashable, Sendable, CaseIterable {
    /// All keys that were read last are watched: it is enough to read every ten minutes.
    case watching
    /// One of them may have changed: read again.
    case changed
    /// They are no longer watched: read each minute.
    case unwatched

    /// In bytes; a longer line is none.
    private static let longest = 64

    /// The line without its end.
    package var line: JSONText { .object([("notice", .string(rawValue))]) }

    /// Reads a ``line``; nil for anything else.
    package init?(line bytes: [UInt8]) {
        guard bytes.count <= Self.longest,
            let text = (try? JSONValue(bytes))?["notice"]?.text
        else { return nil }
        self.init(rawValue: text)
    }
}
