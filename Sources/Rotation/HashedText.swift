/// Text whose hash is reckoned once. What a plan looks up by name is looked up some hundred times for each secret that is
/// made, and most of the time that takes went into hashing the same names again.
struct HashedText: Hashable, Sendable {
    let text: String
    private let hash: Int

    init(_ text: String) {
        self.text = text
        hash = text.hashValue
    }

    static func == (left: HashedText, right: HashedText) -> Bool {
        left.hash == right.hash && left.text == right.text
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(hash)
    }
}
