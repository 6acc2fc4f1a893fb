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

    /// What dictionaries ask for. The hash was made with the process's random key already, so that nobody can choose names
    /// that collide: mixing the table's own seed in takes a multiplication instead of another hash.
    func _rawHashValue(seed: Int) -> Int {
        let mixed = UInt(bitPattern: hash ^ seed) &* 0x9E37_79B9_7F4A_7C15
        return Int(bitPattern: mixed ^ (mixed >> 32))
    }
}
