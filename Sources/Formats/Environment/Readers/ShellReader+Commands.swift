/// Commands of one line, as far as they change the shell's variables or how it continues.
extension ShellReader {
    mutating func run(_ assignments: [ScriptWord], _ all: [ScriptWord], _ range: Range<Int>, isCertain: Bool) {
        for word in assignments + all { expand(word, range) }
        for word in assignments {
            guard let assignment = word.assignment(isDash: parser.isDash) else { continue }
            assign(assignment.name, range, isCertain)
            if !assignment.isScalar { spoil(assignment.name) }
        }
        guard let first = all.first else { return }
        var words = all[...]
        while let name = words.first?.string, name == "command" || name == "builtin" {
            words = words.dropFirst().drop { $0.text.first == UInt8(ascii: "-") }
        }
        // A function may have a builtin's name. Behind an assignment, a command is more likely a word of a placeholder.
        let isSure = isCertain && assignments.isEmpty && words.count == all.count && !isFunction(first.string)
        guard let word = words.popFirst() else { return }
        if word.isExpanded { mayRunText(range) }
        let count = entries.count
        run(word, words, range, isCertain: isSure)
        let isAssignment = entries.dropFirst(count).contains { $0.name.first != .openingParenthesis }
        if isOwn(word.string), !isAssignment, !hasEnded { note("command \(word.string)", range) }
    }

    private mutating func run(
        _ command: ScriptWord, _ words: ArraySlice<ScriptWord>, _ range: Range<Int>, isCertain: Bool
    ) {
        var words = words
        let name = command.string
        func hasOption(_ letter: Character) -> Bool {
            words.contains { $0.text.first == UInt8(ascii: "-") && $0.string.contains(letter) }
        }
        switch name {
        case "export", "readonly", "declare", "typeset", "local":
            declare(name, words, range, isCertain: isCertain)
        case _ where ShellBuiltin.assigning.contains(name):
            assignAll(words, range, spoils: name == "mapfile" || name == "readarray" || hasOption("a"))
        case "eval", "trap": assignLater(words, range)
        case "printf" where words.first?.text.starts(with: "-v".utf8) == true:
            // `-v NAME` or `-vNAME`.
            var option = words.removeFirst()
            option.text.removeFirst(2)
            assignAll([option] + words.prefix(1), range)
        case ".", "source": mayRunText(range)
        case "set":
            guard isCertain, let exportsAll = ShellExports.exportsAll(words.map(\.string)) else { break }
            let start = range.lowerBound
            exports.set(exportsAll, at: start, beginsLine: start == 0 || parser.bytes[start - 1] == .lineFeed)
        case "return", "exit": if isCertain { hasEnded = true }
        // A mere redirection ends nothing.
        case "exec": if isCertain, words.first?.isExpanded == false { hasEnded = true }
        default:
            // `NAME = value` is a command to a shell only.
            if command.isName, words.first?.text.first == .equals { assign(command.text, range, isCertain) }
        }
    }

    /// `export` and its like.
    private mutating func declare(
        _ command: String, _ words: ArraySlice<ScriptWord>, _ range: Range<Int>, isCertain: Bool
    ) {
        let options = words.prefix { $0.text.first == UInt8(ascii: "-") || $0.text.first == UInt8(ascii: "+") }
        let letters = Set(options.flatMap(\.text))
        let attributes = command == "export" ? [] : letters.subtracting("-+xgpfF".utf8)
        let isExport = command == "export" || letters.contains(UInt8(ascii: "x"))
        let spoils = command == "readonly" || !attributes.isEmpty
        if !attributes.isDisjoint(with: "ni".utf8) {
            // A variable that names another one, or has its values computed.
            assignLater(words, range)
            mayRunText(range)
        }
        let isGlobal = command == "export" || command == "readonly" || letters.contains(UInt8(ascii: "g"))
        guard !isInFunction || isGlobal else { return }
        for word in words.dropFirst(options.count) {
            // dash divides the value into words, too.
            if word.isExpanded { mayRunText(range) }
            if let assignment = word.assignment(isDash: parser.isDash, isArgument: true) {
                assign(
                    assignment.name, range, isCertain && command != "local" && attributes.isEmpty, isExport: isExport)
                if spoils || !assignment.isScalar { spoil(assignment.name) }
            } else if !word.isName || !attributes.isEmpty {
                assignAll([word], range, spoils: spoils)
            } else {
                if command == "export" { exports.note(word.text, isExport: true) }
                if spoils { spoil(word.text) }
            }
        }
    }
}
