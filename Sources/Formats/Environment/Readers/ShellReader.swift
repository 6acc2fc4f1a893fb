/// A shell's view of a file (bash and dash) that it sources: `. FILE`.
///
/// - The entries are the variables that are certainly assigned, under all conditions. Assignments count, also before a command,
///   because a placeholder of several words looks like that. `export` and similar commands count too.
/// - Commands that may assign or remove a variable get a name that no variable has (``hidden(_:)``). These are all commands
///   within another one or behind `&&` and `||`, an expansion, `unset`, `read` and similar ones. The same holds for assigning a
///   variable that may be read-only or of another type by then.
/// - What a function, `eval` or `trap` assigns may be assigned at any time: its entry comes last.
/// - A command that may carry out text from elsewhere in the file (`eval "$A"`) may assign all that is named in the values.
/// - A pipeline, a subshell and a job in the background do not change the variables. They, definitions of functions,
///   here-documents, substitutions and the commands of the shell itself are entries, too, with names that no variable has. Other
///   commands are no entries, because the text after `;` in a password is no program.
/// - Behind a command that certainly ends the file (`return`, `exit`, `exec`), nothing is read. One on a condition is as the
///   file's author wants it.
/// - A script that a shell may accept and that cannot be followed has a single entry (``unclear``): no edit is accepted.
struct ShellReader {
    var parser: ShellParser
    private(set) var entries: [EnvironmentEntry] = []
    var exports = ShellExports()
    /// The variables that a later assignment may not change, or not to its value.
    private var spoiled: Set<[UInt8]> = []
    private var functions: Set<String> = []
    /// Whether the body of a function is followed.
    private(set) var isInFunction = false
    /// The variables that may be assigned at any time, and by which commands.
    private var lasting: [[UInt8]: Range<Int>] = [:]
    /// The last command that may carry out text from elsewhere in the file.
    private var indirect: Range<Int>?
    var hasEnded = false

    private init(_ bytes: [UInt8], isDash: Bool) {
        parser = ShellParser(bytes, isDash: isDash)
    }

    /// The variables in the file; nil when a shell stops at an error in its syntax.
    ///
    /// - Parameter isDash: false: the shell is bash.
    static func entries(in bytes: [UInt8], isDash: Bool) -> [EnvironmentEntry]? {
        atEnd(of: bytes, isDash: isDash)?.entries
    }

    /// The reader that has read a file to its end; nil when the shell stops at an error in its syntax.
    static func atEnd(of bytes: [UInt8], isDash: Bool) -> ShellReader? {
        var reader = ShellReader(bytes, isDash: isDash)
        do throws(ShellError) {
            try reader.readAll()
            return reader
        } catch {
            guard error == .unclear else { return nil }
            let rest = min(reader.parser.index, bytes.count)..<bytes.count
            reader = ShellReader([], isDash: isDash)
            reader.entries = [EnvironmentEntry(name: unclear, range: rest)]
            return reader
        }
    }

    /// The only entry in a file that cannot be followed.
    static let unclear = Array("?".utf8)

    /// The name of an entry that may assign a variable, or never does.
    static func hidden(_ name: [UInt8]) -> [UInt8] { [.openingParenthesis] + name + [.closingParenthesis] }

    private mutating func readAll() throws(ShellError) {
        guard !parser.hasDividedOperators else { throw .unclear }
        while !hasEnded, let list = try parser.next() { run(list, isCertain: true) }
        for document in parser.documents { note("<<", document) }
        if let indirect {
            let named = Set(parser.data.flatMap { ScriptWord.names(in: parser.bytes[$0]) })
            for entry in entries where named.contains(entry.name) { lasting[entry.name] = indirect }
        }
        for (name, range) in lasting.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            entries.append(EnvironmentEntry(name: Self.hidden(name), range: range))
        }
    }

    // MARK: Commands

    private mutating func run(_ list: ScriptList, isCertain: Bool) {
        // For other readers the text before `&` belongs to the value, and an edit replaces both.
        if list.isBackground, !list.isAssignment {
            return noteSubshell(list.pipelines.flatMap { $0 }, list.range)
        }
        for end in list.lineEnds { note("&&", end) }
        for (number, commands) in list.pipelines.enumerated() {
            guard let first = commands.first, let last = commands.last else { continue }
            if commands.count > 1 {
                noteSubshell(commands, first.range.lowerBound..<last.range.upperBound)
            } else {
                run(first, isCertain: isCertain && number == 0)
            }
        }
    }

    /// Notes commands that do not change the shell's variables, unless they are programs only.
    private mutating func noteSubshell(_ commands: [ScriptCommand], _ range: Range<Int>) {
        let isOther = commands.contains { command in
            guard case .simple(let assignments, let words) = command.kind else { return true }
            return !assignments.isEmpty || isOwn(words.first?.string ?? "")
        }
        if isOther { note("()", range) }
    }

    /// Whether the shell itself carries out the command.
    func isOwn(_ command: String) -> Bool { ShellBuiltin.all.contains(command) || isFunction(command) }

    func isFunction(_ command: String) -> Bool { functions.contains(command) }

    private mutating func run(_ command: ScriptCommand, isCertain: Bool) {
        guard !hasEnded else { return }
        for target in command.redirections { expand(target, command.range) }
        switch command.kind {
        case .simple(let assignments, let words): run(assignments, words, command.range, isCertain: isCertain)
        case .subshell: note("()", command.range)
        case .arithmetic: assignNames(in: parser.bytes[command.range], command.range)
        case .compound(let lists, let words, let variable):
            for word in words { expand(word, command.range) }
            if let variable { assignAll([variable], command.range) }
            for list in lists { run(list, isCertain: false) }
        case .function(let name, let body):
            note("\(name)()", command.range)
            functions.insert(name)
            let isNested = isInFunction
            isInFunction = true
            for command in body { run(command, isCertain: false) }
            isInFunction = isNested
        }
    }

    // MARK: Effects

    mutating func note(_ name: String, _ range: Range<Int>) {
        if !isInFunction { entries.append(EnvironmentEntry(name: Array(name.utf8), range: range)) }
    }

    mutating func assign(_ name: [UInt8], _ range: Range<Int>, _ isCertain: Bool, isExport: Bool = false) {
        if isInFunction {
            lasting[name] = range
            return
        }
        exports.note(name, isExport: isExport)
        let isSpoiled = spoiled.contains(name)
        entries.append(EnvironmentEntry(name: isCertain && !isSpoiled ? name : Self.hidden(name), range: range))
    }

    /// Each name in the text may be assigned.
    private mutating func assignNames(in text: some Collection<UInt8>, _ range: Range<Int>) {
        for name in ScriptWord.names(in: text) { assign(name, range, false) }
    }

    /// Each name in the words may be assigned.
    mutating func assignAll(_ words: some Sequence<ScriptWord>, _ range: Range<Int>, spoils: Bool = false) {
        for word in words {
            if word.isExpanded { mayRunText(range) }
            for name in ScriptWord.names(in: word.text) {
                assign(name, range, false)
                if spoils { spoil(name) }
            }
        }
    }

    mutating func spoil(_ name: [UInt8]) { spoiled.insert(name) }

    /// Each name in the words may be assigned at any time.
    mutating func assignLater(_ words: some Sequence<ScriptWord>, _ range: Range<Int>) {
        for word in words {
            if word.isExpanded { mayRunText(range) }
            for name in ScriptWord.names(in: word.text) { lasting[name] = range }
        }
    }

    mutating func mayRunText(_ range: Range<Int>) { indirect = range }

    /// The assignments of a word's expansions.
    mutating func expand(_ word: ScriptWord, _ range: Range<Int>) {
        if word.isSubstituted { note("$()", word.range) }
        for name in word.defaults { assign(name, range, false) }
        // An arithmetic expression may assign.
        if word.isArithmetic { assignNames(in: word.assignment(isDash: parser.isDash)?.value ?? word.text[...], range) }
    }
}
