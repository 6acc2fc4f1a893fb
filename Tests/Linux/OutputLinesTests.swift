import Testing

@testable import Linux

struct OutputLinesTests {
    private func report(_ pieces: [String]) -> ExitReport {
        var output = OutputLines()
        for piece in pieces { output.take(Array(piece.utf8)[...]) }
        return output.report(.exited(0))
    }

    @Test func splitsLinesWhereverTheyCameApart() {
        #expect(report(["one\ntw", "o\r\n", "\nlast"]).lines == ["one", "two", "", "last"])
        #expect(report([]).lines == [])
        #expect(report(["\n"]).lines == [""])
    }

    @Test func repairsWhatIsNotText() {
        var output = OutputLines()
        output.take([0xFF, 0x41, 0x0A])
        #expect(output.report(.timedOut) == ExitReport(ending: .timedOut, lines: ["\u{FFFD}A"], truncated: 0))
    }

    @Test func leavesOutWholeLinesAndCountsTheirBytes() {
        let line = String(repeating: "x", count: 999) + "\n"
        // 65 lines fit; the 66th would be cut.
        let cut = report(Array(repeating: line, count: 100) + ["end\n"])
        #expect(cut.lines.count == 65)
        #expect(cut.lines.allSatisfy { $0.count == 999 })
        #expect(cut.truncated == 35 * 1_000 + 4)

        let fits = report([String(repeating: "x", count: OutputLines.limit)])
        #expect(fits.truncated == 0)
        #expect(fits.lines.map(\.count) == [OutputLines.limit])
        let oneTooMany = report([String(repeating: "x", count: OutputLines.limit + 1), "\nnext\n"])
        #expect(oneTooMany.lines == [])
        #expect(oneTooMany.truncated == OutputLines.limit + 7)
    }
}
