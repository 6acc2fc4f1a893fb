/// An environment file in which variables are set while every other byte stays.
///
/// Programs read such files in different ways: systemd's `EnvironmentFile=`, shells, dotenv libraries, `docker
/// --env-file`. The rules:
///
/// - An assignment is `NAME=…`, with `export`, indentation and blanks around `=` allowed, at the start of a statement.
/// - Where readers disagree on an assignment of our variable (``EnvironmentLexer``), the file is not edited: some would
///   see the variable, others a part of another value. What all of them see as part of another value is left alone.
/// - docker reads physical lines and knows neither quotes nor `export`: a file with either is not meant for docker.
/// - Every assignment of the variable is set; without any, one is appended, after adding a line break that the last
///   line lacks. It is written as `NAME=value`; indentation and `export` stay, the old value goes. A comment after
///   the value moves to a line of its own before it: systemd and docker would read it as the end of the value.
/// - Only some readers understand the first line after a byte-order mark: it is set, but counts as no assignment.
/// - Line breaks stay as they are; new ones are like the file's last.
/// - Not edited either: a NUL (systemd stops there), a quote that is never closed, more than one command or
///   variable in one statement, a command substitution as the value.
struct EnvironmentFile {
    /// The value found for a variable.
    enum Value: Hashable, Sendable {
        case absent
        /// The value's bytes, without any quotes around it.
        case one([UInt8])
        /// Assignments that differ, or that only some readers see.
        case differing
    }

    /// Far more than anybody assigns one variable in one file: bounds the work of editing.
    private static let assignmentLimit = 100

    static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    private(set) var bytes: [UInt8]
    private var lexer: EnvironmentLexer

    init(_ bytes: [UInt8]) throws(FormatFlaw) {
        self.bytes = bytes
        lexer = EnvironmentLexer([])
        try read()
    }

    /// Sets each variable to its value, whose bytes must all be plain (``Swift/UInt8/isTokenCharacter``).
    mutating func set(_ values: [String: [UInt8]]) throws(FormatFlaw) {
        let found = find(Set(values.keys))
        var all: [(name: String, assignment: EnvironmentAssignment)] = []
        var missing: [String] = []
        for name in values.keys.sorted() {
            let assignments = try found.assignments(of: name)
            for assignment in assignments {
                if let flaw = assignment.flaw(in: bytes) {
                    throw malformed(at: assignment.statement.lowerBound, flaw)
                }
                all.append((name, assignment))
            }
            if assignments.allSatisfy({ $0.statement.lowerBound < firstStatementFloor }) { missing.append(name) }
        }
        // From the end, so that the offsets of those before it stay right.
        for (name, assignment) in all.sorted(by: { $0.assignment.lineEnd > $1.assignment.lineEnd }) {
            bytes.replaceSubrange(
                assignment.statement.lowerBound..<assignment.lineEnd,
                with: assignment.comment(in: bytes, before: lineBreak) + assignment.prefix(in: bytes)
                    + Array(name.utf8) + [.equals] + (values[name] ?? []))
        }
        if !all.isEmpty { try read() }
        for name in missing {
            if let doubt = lexer.doubtAtEnd {
                throw malformed(
                    at: doubt.offset,
                    "what stands behind it depends on the program that reads it, so that \(name) cannot be added: "
                        + "it has \(doubt.cause.rawValue)")
            }
            if let last = bytes.last, last != .lineFeed { bytes += lineBreak }
            bytes += Array(name.utf8) + [.equals] + (values[name] ?? []) + lineBreak
        }
        if !missing.isEmpty { try read() }
        // Reads the values back, so that a mistake above shows before anything is written.
        let written = try self.values(of: values.keys)
        for (name, value) in values where written[name] != .one(value) {
            throw malformed(at: max(0, bytes.count - 1), "readers would not agree on what \(name) is set to")
        }
    }

    /// What the variable is set to.
    func value(of name: String) throws(FormatFlaw) -> Value { try value(find([name]).assignments(of: name)) }

    /// What each of the variables is set to. Of several that cannot be determined, the first is the one that is thrown for.
    func values(of names: some Collection<String>) throws(FormatFlaw) -> [String: Value] {
        let found = find(Set(names))
        var values: [String: Value] = [:]
        for name in names { values[name] = try value(found.assignments(of: name)) }
        return values
    }

    /// Whether the file holds anything, even a comment, besides assignments of these variables.
    func holdsOtherLines(than names: some Collection<String>) throws(FormatFlaw) -> Bool {
        let found = find(Set(names))
        var rest = bytes
        for name in names {
            for assignment in try found.assignments(of: name) {
                for offset in assignment.statement { rest[offset] = .space }
            }
        }
        return rest.dropFirst(firstTextOffset).contains { !$0.isEnvironmentSpace && !$0.isLineBreak }
    }

    // MARK: Finding

    /// The assignments of some variables, and why those of others cannot be determined.
    private struct Found {
        var assignments: [String: [EnvironmentAssignment]] = [:]
        var flaws: [String: FormatFlaw] = [:]

        func assignments(of name: String) throws(FormatFlaw) -> [EnvironmentAssignment] {
            if let flaw = flaws[name] { throw flaw }
            return assignments[name] ?? []
        }
    }

    private func value(_ assignments: [EnvironmentAssignment]) -> Value {
        guard let last = assignments.last else { return .absent }
        let value = last.unquotedValue(in: bytes)
        guard assignments.allSatisfy({ $0.unquotedValue(in: bytes) == value }),
            assignments.contains(where: { $0.statement.lowerBound >= firstStatementFloor })
        else { return .differing }
        return .one(value)
    }

    /// Looks for all of these variables in one pass, so that the time depends on the file's size alone.
    private func find(_ names: Set<String>) -> Found {
        var found = Found()
        func note(_ name: String, at offset: Int, _ reason: @autoclosure () -> String) {
            if found.flaws[name] == nil { found.flaws[name] = malformed(at: offset, reason()) }
        }
        let doubtful = lexer.continued + (lexer.doubt.map { [($0.offset..<bytes.count, $0)] } ?? [])
        for (lines, doubt) in doubtful {
            for (name, start) in mentions(in: lines) where names.contains(name) {
                note(
                    name, at: start,
                    "whether it sets \(name) depends on the program that reads it" + cause(doubt, at: start))
            }
        }
        for statement in lexer.statements {
            let start = statement.range.lowerBound
            let assignment = EnvironmentAssignment(bytes, statement: statement.range, names: names)
            // To a shell `export A=1 NAME=old` is one statement, in which NAME cannot be set by itself.
            for name in ShellWords(bytes, statement.range).assigned
            where name != assignment?.name && names.contains(name) {
                note(name, at: start, "a shell sets \(name) there behind something else, and that is not edited")
            }
            guard let assignment else { continue }
            if let doubt = doubtAboutEnd(of: statement) {
                note(
                    assignment.name, at: start,
                    "where the value of \(assignment.name) ends depends on the program that reads it"
                        + cause(doubt, at: start))
            }
            found.assignments[assignment.name, default: []].append(assignment)
        }
        for (name, assignments) in found.assignments where assignments.count > Self.assignmentLimit {
            note(
                name, at: assignments[assignments.count - 1].statement.lowerBound,
                "\(name) is set more than \(Self.assignmentLimit) times in this file")
        }
        return found
    }

    /// Why readers disagree on where the value that the statement assigns ends, if they do.
    private func doubtAboutEnd(of statement: EnvironmentLexer.Statement) -> EnvironmentLexer.Doubt? {
        if let doubt = lexer.doubt, statement.range.contains(doubt.offset) { return doubt }
        // Dotenv libraries have no continued lines: such a line must not look like an assignment.
        guard bytes[statement.agreedEnd..<statement.range.upperBound].contains(.equals) else { return nil }
        return lexer.continued.first { statement.range.contains($0.lines.lowerBound) }?.doubt
    }

    /// Words for a message about the line at `offset`: the cause, and its line if it is another.
    private func cause(_ doubt: EnvironmentLexer.Doubt, at offset: Int) -> String {
        let (line, other) = (line(of: doubt.offset), line(of: offset))
        return line == other ? ": it has \(doubt.cause.rawValue)" : ": line \(line) has \(doubt.cause.rawValue)"
    }

    /// The words in these bytes that an equals sign follows, and where each begins.
    private func mentions(in range: Range<Int>) -> [(name: String, start: Int)] {
        var result: [(name: String, start: Int)] = []
        var index = range.lowerBound
        while let start = bytes[index..<range.upperBound].firstIndex(where: \.isNamePart) {
            let end = bytes[start..<range.upperBound].firstIndex { !$0.isNamePart } ?? range.upperBound
            index = bytes[end..<range.upperBound].firstIndex { !$0.isEnvironmentSpace } ?? range.upperBound
            if index < range.upperBound, bytes[index] == .equals {
                result.append((String(decoding: bytes[start..<end], as: UTF8.self), start))
            }
        }
        return result
    }

    private mutating func read() throws(FormatFlaw) {
        if let offset = bytes.firstIndex(of: 0) { throw malformed(at: offset, "it holds a NUL byte") }
        lexer = EnvironmentLexer(bytes)
        if let quote = lexer.openQuote { throw malformed(at: quote, "the quote that begins there is never closed") }
    }

    private func line(of offset: Int) -> Int { 1 + bytes[..<min(offset, bytes.count)].count { $0 == .lineFeed } }

    private func malformed(at offset: Int, _ reason: String) -> FormatFlaw {
        FormatFlaw(line: line(of: offset), reason: reason)
    }

    private var firstTextOffset: Int {
        bytes.starts(with: Self.byteOrderMark) ? Self.byteOrderMark.count : 0
    }

    /// Where the statements begin that every reader sees: after the line of a byte-order mark, if there is one.
    private var firstStatementFloor: Int {
        guard firstTextOffset > 0 else { return 0 }
        return bytes.firstIndex(of: .lineFeed).map { $0 + 1 } ?? bytes.count
    }

    private var lineBreak: [UInt8] {
        guard let last = bytes.lastIndex(of: .lineFeed), last > 0, bytes[last - 1] == .carriageReturn else {
            return [.lineFeed]
        }
        return [.carriageReturn, .lineFeed]
    }
}
