/// Keeps what a child writes, up to a limit, and counts the rest.
struct OutputLines {
    /// Bytes: plenty for a message, little enough for a hundred of them.
    static let limit = 65_536

    private var kept: [UInt8] = []
    private var dropped = 0

    mutating func take(_ bytes: ArraySlice<UInt8>) {
        let room = OutputLines.limit - kept.count
        kept += bytes.prefix(room)
        dropped += max(bytes.count - room, 0)
    }

    func report(_ ending: ExitReport.Ending) -> ExitReport {
        var bytes = kept[...]
        if dropped > 0 {
            bytes = kept[..<(kept.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0)]
        }
        var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        if lines.last?.isEmpty == true { lines.removeLast() }
        let text = lines.map { line in
            String(decoding: line.last == UInt8(ascii: "\r") ? line.dropLast() : line, as: UTF8.self)
        }
        return ExitReport(ending: ending, lines: text, truncated: dropped + kept.count - bytes.count)
    }
}
