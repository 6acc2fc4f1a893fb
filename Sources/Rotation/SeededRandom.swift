/// Pseudorandom numbers determined by the seed and the question, so that a run can be replayed.
struct SeededRandom: Hashable, Sendable {
    let seed: UInt64

    /// A number from 0 up to 1, the same for the same question: FNV-1a over its text, mixed by SplitMix64's finisher.
    func value(_ question: String) -> Double {
        var hash = seed ^ 0xcbf2_9ce4_8422_2325
        for byte in question.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
        hash = (hash ^ (hash >> 30)) &* 0xbf58_476d_1ce4_e5b9
        hash = (hash ^ (hash >> 27)) &* 0x94d0_49bb_1331_11eb
        hash ^= hash >> 31
        return Double(hash >> 11) / Double(UInt64(1) << 53)
    }
}
