import AppleClientSecret

/// A secret's life as a bar, from its issue on the left to its expiry on the right. Elapsed time is empty and remaining time
/// full, so that the boundary is the current time. A mark shows when the secret must be renewed.
enum LifetimeBar {
    /// - Parameters:
    ///   - renewal: when the secret is due; nil for no mark.
    ///   - cells: the bar's length in characters.
    ///   - unicode: blocks and a line; otherwise `#` for remaining time, `.` for past time and `|` for the mark.
    static func text(
        from start: WallTime, to end: WallTime, at now: WallTime, renewal: WallTime? = nil, cells: Int, unicode: Bool
    ) -> String {
        let room = renewal == nil ? cells : cells - 1
        let full = filled(from: start, to: end, at: now, cells: room)
        var bar = Array(repeating: unicode ? "░" : ".", count: max(room - full, 0))
        bar += Array(repeating: unicode ? "█" : "#", count: full)
        if let renewal, cells > 0 {
            let exact = Int((share(renewal - start, of: end - start) * Double(room)).rounded())
            // A renewal ahead is marked in the full part, a past one in the empty part, however coarse the cells are.
            let passed = room - full
            bar.insert(unicode ? "│" : "|", at: now < renewal ? max(exact, passed) : min(exact, passed))
        }
        return bar.joined()
    }

    /// A secret that is still valid fills one cell at least, and one that has aged at all leaves one empty. So an empty bar
    /// always means expired, and a full one new.
    private static func filled(from start: WallTime, to end: WallTime, at now: WallTime, cells: Int) -> Int {
        let whole = end - start
        let left = end - now
        guard cells > 0, whole > 0, left > 0 else { return 0 }
        guard left < whole else { return cells }
        let exact = Int(share(left, of: whole) * Double(cells))
        return min(max(exact, 1), max(cells - 1, 1))
    }

    /// `part` as a share of `whole`, from 0 to 1.
    private static func share(_ part: Seconds, of whole: Seconds) -> Double {
        guard whole > 0 else { return 1 }
        return min(max(Double(part.count) / Double(whole.count), 0), 1)
    }
}
