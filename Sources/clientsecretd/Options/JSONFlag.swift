import ArgumentParser

struct JSONFlag: ParsableArguments {
    @Flag(name: .long, help: "Answer in JSON.")
    var json = false

    /// Answers in JSON if that is wanted, else in lines.
    func show(_ document: @autoclosure () -> String, or lines: @autoclosure () -> [String]) throws(CommandFailure) {
        if json { try CommandOutput.answer(document()) } else { try CommandOutput.answer(lines: lines()) }
    }

    /// The same with a report that depends on the terminal.
    func show(_ document: @autoclosure () -> String, or report: (Terminal) -> [[Piece]]) throws(CommandFailure) {
        if json { try CommandOutput.answer(document()) } else { try CommandOutput.answer(report) }
    }
}
