import AppleClientSecret

/// How much of a secret's life is left, as a bar that empties.
enum LifetimeBar {
    /// - Parameters:
    ///   - cells: its length in characters.
    ///   - unicode: blocks; otherwise `#` for what is left and `.` for what has passed.
    static func text(from start: WallTime, to end: WallTime, at now: WallTime, cells: Int, unicode: Bool) -> String {
        let full = filled(from: start, to: end, at: now, cells: cells)
        return String(repeating: unicode ? "█" : "#", count: full)
            + String(repeating: unicode ? "░" : ".", count: cells - full)
    }

    /// A secret that is still valid fills one cell at least, and one that has aged at all leaves one empty: both ends
    /// of the bar say exactly what they mean.
    private static func filled(from start: WallTime, to end: WallTime, at now: WallTime, cells: Int) -> Int {
        let whole = end - start
        let left = end - now
        guard cells > 0, whole > 0, left > 0 else { return 0 }
        guard left < whole else { return cells }
        let exact = Int(Double(left.count) / Double(whole.count) * Double(cells))
        return min(max(exact, 1), max(cells - 1, 1))
    }
}
