/// Why a value cannot be used, and its correction.
struct ValueError: Error {
    let words: String
    /// If the reason is that a file could not be read: why its text is not known.
    let unread: UnreadText?

    init(_ words: String, unread: UnreadText? = nil) {
        self.words = words
        self.unread = unread
    }
}
