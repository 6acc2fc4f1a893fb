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
package struct EnvironmentFile {
    /// The value found for a variable.
    package enum Value: Hashable, Sendable {
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

    package init(_ bytes: [UInt8]) throws(FormatFlaw) {
        self.bytes = bytes
        lexer = EnvironmentLexer([])
        try read()
    }

    /// Sets each variable to its value, whose bytes must all be plain (``Swift/UInt8/isTokenCharacter``).
    mutating func set(_ values: [String: [UInt8]]) throws(FormatFlaw) {
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            let assignments = try assignments(of: name)
            for assignment in assignments.reversed() {
                if let flaw = assignment.flaw(in: bytes) {
                    throw malformed(at: assignment.statement.lowerBound, flaw)
                }
                bytes.replaceSubrange(
                    assignment.statement.lowerBound..<assignment.lineEnd,
                    with: assignment.comment(in: bytes, before: lineBreak) + assignment.prefix(in: bytes)
                        + Array(name.utf8) + [.equals] + value)
            }
            if assignments.allSatisfy({ $0.statement.lowerBound < firstStatementFloor }) {
                if let doubt = lexer.doubtAtEnd {
                    throw malformed(
                        at: doubt.offset,
                        "what stands behind it depends on the program that reads it, so that \(name) cannot be added: "
                            + "it has \(doubt.cause.rawValue)")
                }
                if let last = bytes.last, last != .lineFeed { bytes += lineBreak }
                bytes += Array(name.utf8) + [.equals] + value + lineBreak
            }
            try read()
        }
        // Reads the values back, so that a mistake above shows before anything is written.
        for (name, value) in values where try self.value(of: name) != .one(value) {
            throw malformed(at: max(0, bytes.count - 1), "readers would not agree on what \(name) is set to")
        }
    }

    /// What the variable is set to.
    package func value(of name: String) throws(FormatFlaw) -> Value {
        let all = try assignments(of: name)
        guard let last = all.last else { return .absent }
        let value = last.unquotedValue(in: bytes)
        guard all.allSatisfy({ $0.unquotedValue(in: bytes) == value }),
            all.contains(where: { $0.statement.lowerBound >= firstStatementFloor })
        else { return .differing }
        return .one(value)
    }

    /// Whether the file holds anything, even a comment, besides assignments of these variables.
    func holdsOtherLines(than names: some Sequence<String>) throws(FormatFlaw) -> Bool {
        var rest = bytes
        for name in names {
            for assignment in try assignments(of: name) {
                for offset in assignment.statement { rest[offset] = .space }
            }
        }
        return rest.dropFirst(firstTextOffset).contains { !$0.isEnvironmentSpace && !$0.isLineBreak }
    }

    // MARK: Finding

    private func assignments(of name: String) throws(FormatFlaw) -> [EnvironmentAssignment] {
        let doubtful = lexer.continued + (lexer.doubt.map { [($0.offset..<bytes.count, $0)] } ?? [])
        for (lines, doubt) in doubtful {
            guard let start = mention(of: name, in: lines) else { continue }
            throw malformed(
                at: start, "whether it sets \(name) depends on the program that reads it" + cause(doubt, at: start))
        }
        var result: [EnvironmentAssignment] = []
        for statement in lexer.statements {
            guard let assignment = EnvironmentAssignment(bytes, statement: statement.range, name: name) else {
                // To a shell `export A=1 NAME=old` is one statement, in which NAME cannot be set by itself.
                if ShellWords(bytes, statement.range).assigned.contains(name) {
                    throw malformed(
                        at: statement.range.lowerBound,
                        "a shell sets \(name) there behind something else, and that is not edited")
                }
                continue
            }
            // Dotenv libraries have no continued lines: such a line must not look like an assignment.
            if let doubt = lexer.doubt, statement.range.contains(doubt.offset) {
                throw endsDifferently(statement, name, doubt)
            }
            if bytes[statement.agreedEnd..<statement.range.upperBound].contains(.equals),
                let (_, doubt) = lexer.continued.first(where: { statement.range.contains($0.lines.lowerBound) })
            {
                throw endsDifferently(statement, name, doubt)
            }
            result.append(assignment)
        }
        if result.count > Self.assignmentLimit {
            throw malformed(
                at: result[result.count - 1].statement.lowerBound,
                "\(name) is set more than \(Self.assignmentLimit) times in this file")
        }
        return result
    }

    private func endsDifferently(
        _ statement: EnvironmentLexer.Statement, _ name: String, _ doubt: EnvironmentLexer.Doubt
    ) -> FormatFlaw {
        let start = statement.range.lowerBound
        return malformed(
            at: start, "where the value of \(name) ends depends on the program that reads it" + cause(doubt, at: start))
    }

    /// Words for a message about the line at `offset`: the cause, and its line if it is another.
    private func cause(_ doubt: EnvironmentLexer.Doubt, at offset: Int) -> String {
        let (line, other) = (line(of: doubt.offset), line(of: offset))
        return line == other ? ": it has \(doubt.cause.rawValue)" : ": line \(line) has \(doubt.cause.rawValue)"
    }

    /// Where these bytes hold the name as a word, followed by an equals sign.
    private func mention(of name: String, in range: Range<Int>) -> Int? {
        let name = Array(name.utf8)
        return range.first { start in
            // The byte before first: it is cheap, and a long run of letters holds a long name at every offset.
            guard start == 0 || !bytes[start - 1].isNamePart, bytes[start..<range.upperBound].starts(with: name) else {
                return false
            }
            return bytes[(start + name.count)..<range.upperBound].first { !$0.isEnvironmentSpace } == .equals
        }
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
