internal import Failures
internal import Linux

/// The logged part of a hook's output: its beginning and its end, redacted and escaped. A count of the omitted lines is between
/// them.
package struct LoggedHookOutput {
    /// Removes secrets from lines: nil for a line of which nothing is left. The flag says whether more was printed after the
    /// last one.
    package typealias LineFilter = @Sendable (_ lines: [String], _ isCut: Bool) -> [String?]

    package let lines: [String]

    init(_ report: ExitReport, _ redact: LineFilter) {
        func shown(_ piece: OutputPiece, isCut: Bool) -> [String] {
            redact(piece.lines, isCut)[piece.shown].compactMap { $0.map(Printable.line) }
        }
        let first = shown(report.first, isCut: report.omitted > 0)
        let last = shown(report.last, isCut: false)
        let head = first.prefix(Self.fitting(first))
        let rest = report.omitted == 0 ? Array(first[head.count...]) : last
        let tail = rest.suffix(Self.fitting(rest.reversed()))
        let omitted = report.omitted + first.count + last.count - head.count - tail.count
        lines = head + (omitted > 0 ? ["(\(omitted) line\(omitted == 1 ? "" : "s") omitted)"] : []) + tail
    }

    /// How many lines, from the first one on, fit into the bytes that are kept of each end. Their escapes are longer than the
    /// text that they replace.
    private static func fitting(_ lines: [String]) -> Int {
        var room = OutputExcerpt.byteLimit
        return lines.prefix { line in
            room -= line.utf8.count + 1
            return room >= 0
        }.count
    }
}
