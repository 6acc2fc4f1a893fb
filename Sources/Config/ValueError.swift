internal import Failures

/// Why a value cannot be used, and its correction.
struct ValueError: Error {
    let words: String
    /// The correction, if the words do not have it.
    let remedy: Remedy?
    /// If the reason is that a file could not be read: why its text is not known.
    let unread: UnreadText?

    init(_ words: String, remedy: Remedy? = nil, unread: UnreadText? = nil) {
        self.words = words
        self.remedy = remedy
        self.unread = unread
    }
}
