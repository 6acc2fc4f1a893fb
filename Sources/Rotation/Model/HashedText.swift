/// Text whose hash is computed once. A plan does some hundred lookups by name for each secret that is minted, and
/// hashing the same names again took most of that time.
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

    /// What dictionaries ask for. Without it each lookup would set up a hasher for the one number, which takes longer
    /// than the search.
    func _rawHashValue(seed: Int) -> Int { hash._rawHashValue(seed: seed) }
}
