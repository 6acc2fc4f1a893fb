/// An environment file in which variables are set while every other byte stays.
///
/// Such files are read by programs that disagree: systemd's `EnvironmentFile=`, shells, dotenv libraries, `docker
/// --env-file`. The rules:
///
/// - An assignment is `NAME=…`, with `export`, indentation and blanks around `=` allowed, at the start of a statement.
///   Comments begin with `#` or `;`. Where statements begin and end is asked of models of systemd (before and since
///   version 254), a POSIX shell (unless the file is none of its scripts) and python-dotenv, old and new.
/// - Where they disagree about an assignment of ours, the file is not edited: what one takes for the variable another
///   takes for part of somebody's value. What all hold for part of another value is left alone.
/// - docker reads physical lines and knows neither quotes nor `export`: a file with either is none of docker's.
/// - Every assignment of the variable is set; without any, one is appended, after the line break that the last line
///   may lack. It is written as `NAME=value`, indentation and `export` kept, the rest of its value gone. A comment
///   behind the value goes onto a line of its own before it: systemd and docker would take it for the value's end.
/// - The first line behind a byte-order mark is understood by some readers alone: it is set, but does not count.
/// - Line breaks stay as they are; new ones are like the file's last.
/// - Not edited either: a NUL (systemd stops there), a quote that is never closed, more than one command or
///   variable in one statement, a command substitution as the value.
struct EnvironmentFile {
    /// Why a file is not edited: the line, from 1, and what is wrong with it in words.
    struct Malformed: Error, Hashable {
        let line: Int
        let reason: String
    }

    /// What a variable was found to be.
    enum Value: Hashable {
        case absent
        /// The value's bytes, without the quotes that may stand around it.
        case one([UInt8])
        /// Assignments that differ, or that only some readers see.
        case differing
    }

    /// Far more often than anybody sets one variable in one file: editing it must end.
    private static let assignmentLimit = 100

    static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    private(set) var bytes: [UInt8]
    private var readings: [EnvironmentReading]
    /// Statements in which a shell sets further variables, by the names of these.
    private var alsoAssigned: [String: [Int]] = [:]

    init(_ bytes: [UInt8]) throws(Malformed) {
        self.bytes = bytes
        readings = []
        try read()
    }

    /// Sets each variable to its value, whose bytes must all be plain (``Swift/UInt8/isTokenCharacter``).
    mutating func set(_ values: [String: [UInt8]]) throws(Malformed) {
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
                if let last = bytes.last, last != .lineFeed { bytes += lineBreak }
                bytes += Array(name.utf8) + [.equals] + value + lineBreak
            }
            try read()
        }
        // Whatever was overlooked above shows here, before anything is written.
        for (name, value) in values where try self.value(of: name) != .one(value) {
            throw malformed(at: max(0, bytes.count - 1), "readers would not agree on what \(name) is set to")
        }
    }

    /// What the variable is set to.
    func value(of name: String) throws(Malformed) -> Value {
        let all = try assignments(of: name)
        guard let last = all.last else { return .absent }
        let value = last.unquotedValue(in: bytes)
        guard all.allSatisfy({ $0.unquotedValue(in: bytes) == value }),
            all.contains(where: { $0.statement.lowerBound >= firstStatementFloor })
        else { return .differing }
        return .one(value)
    }

    /// Whether the file holds anything, a comment included, but assignments of these variables.
    func holdsOtherLines(than names: some Sequence<String>) throws(Malformed) -> Bool {
        var rest = bytes
        for name in names {
            for assignment in try assignments(of: name) {
                for offset in assignment.statement { rest[offset] = .space }
            }
        }
        return rest.dropFirst(firstTextOffset).contains { !$0.isEnvironmentSpace && !$0.isLineBreak }
    }

    // MARK: Finding

    private func assignments(of name: String) throws(Malformed) -> [EnvironmentAssignment] {
        var found: [Int: [Range<Int>]] = [:]
        for reading in readings {
            for statement in reading.statements
            where EnvironmentAssignment(bytes, statement: statement, name: name) != nil {
                found[statement.lowerBound, default: []].append(statement)
            }
        }
        // `export A=1 NAME=old` is one statement of a shell's, in which nothing can be set without the rest.
        if let start = alsoAssigned[name]?.first(where: { found[$0] == nil }) {
            throw malformed(at: start, "a shell sets \(name) there behind something else, and that is not edited")
        }
        if found.count > Self.assignmentLimit {
            throw malformed(
                at: found.keys.max() ?? 0, "\(name) is set more than \(Self.assignmentLimit) times in this file")
        }
        var result: [EnvironmentAssignment] = []
        for (start, statements) in found.sorted(by: { $0.key < $1.key }) {
            guard statements.count == readings.count, let end = statements.map(\.upperBound).max(),
                let assignment = EnvironmentAssignment(bytes, statement: start..<end, name: name)
            else { throw malformed(at: start, "whether it sets \(name) depends on the program that reads it") }
            // A dotenv library knows no continued lines; what it reads in them must not be a variable. A carriage return
            // alone ends a line for all but a shell: what stands behind it is a comment as likely as part of the value.
            for statement in statements where isAmbiguous(bytes[statement.upperBound..<end]) {
                throw malformed(at: start, "where the value of \(name) ends depends on the program that reads it")
            }
            result.append(assignment)
        }
        return result
    }

    /// Whether what some readers take for the rest of a value may be something else to others.
    private func isAmbiguous(_ rest: ArraySlice<UInt8>) -> Bool {
        rest.contains(.equals)
            || rest.indices.contains { index in
                bytes[index] == .carriageReturn && (index + 1 == bytes.count || bytes[index + 1] != .lineFeed)
            }
    }

    private mutating func read() throws(Malformed) {
        if let offset = bytes.firstIndex(of: 0) { throw malformed(at: offset, "it holds a NUL byte") }
        readings = EnvironmentReading.all(of: bytes)
        alsoAssigned = [:]
        for statement in readings.first(where: \.isShell)?.statements ?? [] {
            for name in ShellWords(bytes, statement).assigned {
                alsoAssigned[name, default: []].append(statement.lowerBound)
            }
        }
        if let quote = readings.lazy.compactMap(\.openQuote).first {
            throw malformed(at: quote, "the quote that begins there is never closed")
        }
    }

    private func malformed(at offset: Int, _ reason: String) -> Malformed {
        Malformed(line: 1 + bytes[..<min(offset, bytes.count)].count { $0 == .lineFeed }, reason: reason)
    }

    private var firstTextOffset: Int {
        bytes.starts(with: Self.byteOrderMark) ? Self.byteOrderMark.count : 0
    }

    /// Where the statements begin that every reader sees: behind the line of a byte-order mark, where there is one.
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
