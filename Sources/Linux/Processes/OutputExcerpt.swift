/// Lines that a child wrote.
package struct OutputPiece: Hashable, Sendable {
    /// Without the line ends. Some of these lines only show which text the shown ones belong to. A secret that is folded over
    /// several lines is recognised by all of them.
    package let lines: [String]
    /// Those to show.
    package let shown: Range<Int>

    package init(_ lines: [String] = [], shown: Range<Int>? = nil) {
        self.lines = lines
        self.shown = shown ?? 0..<lines.count
    }
}

/// Keeps the beginning and the end of a child's output, and counts the lines in between.
///
/// A line that does not fit is left out whole: half a secret could not be recognised in it.
package struct OutputExcerpt {
    /// Lines kept at each end.
    static let lineLimit = 100
    /// Bytes kept at each end: together 64 KiB, plenty for messages, little enough for a hundred programs.
    package static let byteLimit = 32_768
    /// Bytes kept next to them. A secret has some 300, as base64 and folded twice that.
    static let contextLimit = 8_192

    private var first = Part()
    private var firstContext = Part()
    private var last = Part()
    private var lastContext = Part()
    /// How much was dropped after ``first`` and before ``last``.
    private var omitted = 0
    private var isFirstFull = false
    private var isFirstContextFull = false

    private var line: [UInt8] = []
    private var isLineTooLong = false

    private struct Part {
        private var lines: ArraySlice<[UInt8]> = []
        private(set) var bytes = 0
        var count: Int { lines.count }

        mutating func append(_ line: [UInt8]) {
            lines.append(line)
            bytes += line.count + 1
        }

        mutating func removeFirst() -> [UInt8] {
            let line = lines.removeFirst()
            bytes -= line.count + 1
            return line
        }

        mutating func removeAll() { self = Part() }

        func fits(_ line: [UInt8], within limit: Int) -> Bool { bytes + line.count + 1 <= limit }

        var texts: [String] {
            lines.map { line in
                String(decoding: line.last == UInt8(ascii: "\r") ? line.dropLast() : line[...], as: UTF8.self)
            }
        }
    }

    mutating func take(_ bytes: ArraySlice<UInt8>) {
        var rest = bytes
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            extendLine(by: rest[..<end])
            endLine()
            rest = rest[(end + 1)...]
        }
        extendLine(by: rest)
    }

    private mutating func extendLine(by bytes: ArraySlice<UInt8>) {
        isLineTooLong = isLineTooLong || line.count + bytes.count >= Self.byteLimit
        if isLineTooLong { line = [] } else { line += bytes }
    }

    private mutating func endLine() {
        defer {
            line = []
            isLineTooLong = false
        }
        if isLineTooLong {
            isFirstFull = true
            isFirstContextFull = true
            omitted += last.count + 1
            last.removeAll()
            lastContext.removeAll()
            return
        }
        isFirstFull = isFirstFull || first.count == Self.lineLimit || !first.fits(line, within: Self.byteLimit)
        if !isFirstFull { return first.append(line) }
        isFirstContextFull = isFirstContextFull || !firstContext.fits(line, within: Self.contextLimit)
        if !isFirstContextFull { firstContext.append(line) }
        last.append(line)
        while last.count > Self.lineLimit || last.bytes > Self.byteLimit {
            lastContext.append(last.removeFirst())
            omitted += 1
        }
        while lastContext.bytes > Self.contextLimit { _ = lastContext.removeFirst() }
    }

    func report(_ ending: ExitReport.Ending) -> ExitReport {
        var whole = self
        // The last line may lack its end.
        if !line.isEmpty || isLineTooLong { whole.endLine() }
        return whole.ended(ending)
    }

    private func ended(_ ending: ExitReport.Ending) -> ExitReport {
        let first = self.first.texts
        let last = self.last.texts
        if omitted == 0 {
            return ExitReport(ending: ending, first: OutputPiece(first + last), omitted: 0, last: OutputPiece())
        }
        let before = lastContext.texts
        return ExitReport(
            ending: ending, first: OutputPiece(first + firstContext.texts, shown: 0..<first.count), omitted: omitted,
            last: OutputPiece(before + last, shown: before.count..<before.count + last.count))
    }
}
