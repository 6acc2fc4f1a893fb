/// An environment file as the programs see it that read such files, each in its own way (``EnvironmentReader``).
///
/// - A variable is known if all readers that accept the file find it in the same lines. It is unknown if two of them disagree, or
///   a shell may change it again. All are unknown if a shell may accept the file and cannot be followed. A reader that rejects
///   the whole file does not count.
/// - Only some readers understand the first line after a byte-order mark: its assignments do not count.
/// - A file with a NUL is refused, because some readers stop there.
struct EnvironmentFile {
    /// The value found for a variable.
    enum Value: Hashable, Sendable {
        case absent
        /// The value's bytes, without any quotes around it.
        case one([UInt8])
        /// The same without the comment after it, which some readers take as part of it, or behind a byte-order mark, where some
        /// readers do not find it.
        case meant([UInt8])
        /// Assignments that differ, or that only some readers see.
        case differing
        /// Readers disagree about it, or it must not be replaced.
        case unclear(FormatError)
    }

    /// Far more often than any file assigns one variable: bounds the work of editing.
    private static let assignmentLimit = 100

    /// Of blanks, line breaks and bytes with a meaning to a shell. Each may begin an entry or a word, and a dozen readers keep
    /// all of them. Without a limit, a file of 1 MiB takes a gigabyte of memory. Of 135 environment files of other projects none
    /// has 4,000.
    static let separatorLimit = 20_000

    static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    private(set) var bytes: [UInt8]
    /// The results of the readers that accept the file.
    let readings: [Reading]
    /// The beginning of each line.
    private let lineStarts: [Int]

    struct Reading {
        let reader: EnvironmentReader
        let entries: [EnvironmentEntry]
    }

    init(_ bytes: [UInt8]) throws(FormatError) {
        self.bytes = bytes
        lineStarts = [0] + bytes.indices.lazy.filter { bytes[$0] == .lineFeed }.map { $0 + 1 }
        if let offset = bytes.firstIndex(of: 0) {
            throw FormatError(line: 1 + bytes[..<offset].count { $0 == .lineFeed }, reason: "it holds a NUL byte")
        }
        let separators = bytes.indices.lazy.filter { bytes[$0].separatesWords }.dropFirst(Self.separatorLimit)
        if let offset = separators.first {
            throw FormatError(
                line: 1 + bytes[..<offset].count { $0 == .lineFeed },
                reason: "it has more than \(Self.separatorLimit) words, too many for an environment file",
                advice: "shorten the file, or name another one; its comments and blank lines count, too")
        }
        readings = EnvironmentReader.all.compactMap { reader in
            reader.entries(in: bytes).map { Reading(reader: reader, entries: $0) }
        }
    }

    /// The different values to which the variable is set, without comments after them, as a person means it.
    func uncommentedValues(of name: String) throws(FormatError) -> Set<[UInt8]> {
        Set(try find([name]).assignments(of: name).map { $0.uncommentedValue(in: bytes) })
    }

    /// The value of each of the variables.
    func values(of names: some Collection<String>) -> [String: Value] {
        let found = findReplaceable(Set(names))
        return names.reduce(into: [:]) { values, name in
            values[name] = found.formatErrors[name].map { .unclear($0) } ?? value(found.assignments[name] ?? [])
        }
    }

    /// Whether the file holds anything but assignments of these variables, even a comment. An undetermined line counts as
    /// something else.
    func holdsOtherLines(than names: some Collection<String>) -> Bool {
        var rest = bytes
        for assignment in find(Set(names)).assignments.values.joined() {
            for offset in assignment.statement { rest[offset] = .space }
        }
        return rest.dropFirst(firstTextOffset).contains { !$0.isEnvironmentSpace && !$0.isLineBreak }
    }

    // MARK: Finding

    /// The assignments of some variables, and why those of others cannot be determined.
    struct Found {
        var assignments: [String: [EnvironmentAssignment]] = [:]
        var formatErrors: [String: FormatError] = [:]

        func assignments(of name: String) throws(FormatError) -> [EnvironmentAssignment] {
            if let formatError = formatErrors[name] { throw formatError }
            return assignments[name] ?? []
        }
    }

    private func value(_ assignments: [EnvironmentAssignment]) -> Value {
        guard let last = assignments.last else { return .absent }
        let value = last.uncommentedValue(in: bytes)
        guard assignments.allSatisfy({ $0.uncommentedValue(in: bytes) == value }) else { return .differing }
        let isExact =
            assignments.allSatisfy { $0.unquotedValue(in: bytes) == value }
            && assignments.contains { $0.statement.lowerBound >= firstStatementFloor }
        return isExact ? .one(value) : .meant(value)
    }

    /// Looks for all of these variables in one pass, so that the time depends only on the file's size.
    func find(_ names: Set<String>) -> Found {
        var found = Found()
        // The lines in which each reader finds each variable.
        let known = Dictionary(uniqueKeysWithValues: names.map { (Array($0.utf8), $0) })
        let places = readings.map { reading in
            reading.entries.reduce(into: [String: Set<ClosedRange<Int>>]()) { places, entry in
                if let name = known[entry.name] { places[name, default: []].insert(lines(of: entry.range)) }
            }
        }
        let doubts = doubts(about: known)
        let written = lines(assigning: known)
        let unclear = readings.first { $0.entries.first?.name == ShellReader.unclear }
        for name in names {
            let all = places.reduce(into: Set<ClosedRange<Int>>()) { $0.formUnion($1[name] ?? []) }
            let sorted = all.sorted { ($0.lowerBound, $0.upperBound) < ($1.lowerBound, $1.upperBound) }
            if let unclear {
                found.formatErrors[name] = formatError(
                    at: unclear.entries[0].range.lowerBound,
                    "\(unclear.reader.name) may read the file, and how it does cannot be told from there on")
            } else if let (lines, sees, misses) = disagreement(on: name, sorted, places) {
                found.formatErrors[name] = formatError(name, lines, sees, misses, places[misses][name] ?? [])
            } else if sorted.count > Self.assignmentLimit {
                found.formatErrors[name] = FormatError(
                    line: sorted[Self.assignmentLimit].lowerBound + 1,
                    reason: "\(name) is set more than \(Self.assignmentLimit) times in this file")
            } else if let offset = doubts[name] {
                found.formatErrors[name] = formatError(
                    at: offset, "a shell may change \(name) again there")
            } else if let last = sorted.last, let line = written[name]?.first(where: { $0 > last.upperBound }) {
                // For them the value would stay the old one.
                found.formatErrors[name] = FormatError(
                    line: line + 1,
                    reason: "this line of another value sets \(name) again for programs that read line by line")
            } else {
                do throws(FormatError) {
                    found.assignments[name] = try sorted.map { lines throws(FormatError) in
                        try assignment(of: name, in: lines)
                    }
                } catch {
                    found.formatErrors[name] = error
                }
            }
        }
        return found
    }

    private func assignment(of name: String, in lines: ClosedRange<Int>) throws(FormatError) -> EnvironmentAssignment {
        let statement = statement(lines)
        for offset in statement where bytes[offset] == .carriageReturn {
            if offset + 1 == bytes.count || bytes[offset + 1] != .lineFeed {
                throw formatError(at: offset, "there is a carriage return, which ends a line for some readers")
            }
        }
        guard let assignment = EnvironmentAssignment(bytes, statement: statement, name: name) else {
            throw formatError(at: statement.lowerBound, "\(name) is set there after other text")
        }
        // A `.p8` can be downloaded only once.
        guard !PrivateKeyText.isIn(assignment.unquotedValue(in: bytes)) else {
            throw FormatError(
                line: lines.lowerBound + 1, reason: "\(name) holds a private key, which is never overwritten",
                advice: "write the variable from which the application reads the client secret")
        }
        // Some readers know no values of several lines, such as django-environ and old ones of dotenv for Ruby. For them the edit
        // would remove another variable, even if only the closing quote was forgotten.
        for line in lines.dropFirst() where assignedName(in: line) != nil {
            throw FormatError(
                line: line + 1,
                reason: "this line of the value of \(name) is a variable of its own for programs that read line by line"
            )
        }
        return assignment
    }

    /// Positions at which a shell may change a variable again, after the last certain assignment. The cause is a branch, a loop,
    /// a function, or a command such as `unset`. Before that assignment, it does not matter.
    private func doubts(about known: [[UInt8]: String]) -> [String: Int] {
        let hidden = Dictionary(uniqueKeysWithValues: known.map { (ShellReader.hidden($0), $1) })
        var all: [String: Int] = [:]
        for reading in readings {
            var assigned: Set<String> = []
            var doubts: [String: Int] = [:]
            for entry in reading.entries {
                if let name = known[entry.name] {
                    assigned.insert(name)
                    doubts[name] = nil
                } else if let name = hidden[entry.name], assigned.contains(name), doubts[name] == nil {
                    doubts[name] = entry.range.lowerBound
                }
            }
            all.merge(doubts) { one, _ in one }
        }
        return all
    }

    /// The first lines in which one reader finds the variable and another does not; nil if there are none.
    private func disagreement(
        on name: String, _ all: [ClosedRange<Int>], _ places: [[String: Set<ClosedRange<Int>>]]
    ) -> (lines: ClosedRange<Int>, sees: Int, misses: Int)? {
        for lines in all {
            let sees = places.firstIndex { $0[name]?.contains(lines) == true }
            let misses = places.firstIndex { $0[name]?.contains(lines) != true }
            if let sees, let misses { return (lines, sees, misses) }
        }
        return nil
    }

    /// How the reader that misses a variable in these lines reads them instead, and the line to correct.
    private func formatError(
        _ name: String, _ lines: ClosedRange<Int>, _ sees: Int, _ misses: Int, _ others: Set<ClosedRange<Int>>
    ) -> FormatError {
        let (one, other) = (readings[sees].reader.name, readings[misses].reader.name)
        let line = lines.lowerBound + 1
        if let end = others.first(where: { $0.lowerBound == lines.lowerBound })?.upperBound {
            return FormatError(
                line: line,
                reason: "the value of \(name) ends in line \(lines.upperBound + 1) for \(one), "
                    + "in line \(end + 1) for \(other)")
        }
        let start = lineStarts[lines.lowerBound]
        if let around = readings[misses].entries.last(where: {
            $0.range.lowerBound < start && $0.range.upperBound > start
        }) {
            return formatError(
                at: around.range.lowerBound,
                "for \(other), what begins there continues past line \(line), where \(one) reads \(name)")
        }
        return FormatError(line: line, reason: "\(one) reads \(name) there, and \(other) does not")
    }

    // MARK: Lines

    /// The statement in these lines: without the blanks around it, and without the last line's break.
    private func statement(_ lines: ClosedRange<Int>) -> Range<Int> {
        var start = lineStarts[lines.lowerBound]
        var end = lines.upperBound + 1 < lineStarts.count ? lineStarts[lines.upperBound + 1] : bytes.count
        while start < end, bytes[start].isEnvironmentSpace { start += 1 }
        while end > start, bytes[end - 1].isEnvironmentSpace || bytes[end - 1].isLineBreak { end -= 1 }
        return start..<end
    }

    /// The lines, from 0, of a range of bytes.
    private func lines(of range: Range<Int>) -> ClosedRange<Int> {
        let first = line(of: range.lowerBound)
        return first...max(first, line(of: max(range.lowerBound, range.upperBound - 1)))
    }

    /// The lines, from 0, that have the form of an assignment of each variable. All of them assign it for readers that know no
    /// values of several lines.
    private func lines(assigning known: [[UInt8]: String]) -> [String: [Int]] {
        lineStarts.indices.reduce(into: [:]) { lines, line in
            if let name = assignedName(in: line).flatMap({ known[Array($0)] }) { lines[name, default: []].append(line) }
        }
    }

    /// The name before the equals sign if a line, from 0, has the form of an assignment.
    private func assignedName(in line: Int) -> ArraySlice<UInt8>? {
        var reader = LineReader(bytes)
        reader.index = lineStarts[line]
        reader.skipBlanks()
        reader.skipExport(\.isEnvironmentSpace)
        let start = reader.index
        reader.skip(while: \.isNamePart)
        let name = bytes[start..<reader.index]
        reader.skipBlanks()
        guard !name.isEmpty, reader.index < bytes.count, bytes[reader.index] == .equals else { return nil }
        return name
    }

    /// From 0.
    func line(of offset: Int) -> Int {
        var (low, high) = (0, lineStarts.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if lineStarts[middle] <= offset { low = middle } else { high = middle }
        }
        return low
    }

    func formatError(at offset: Int, _ reason: String) -> FormatError {
        FormatError(line: line(of: offset) + 1, reason: reason)
    }

    var firstTextOffset: Int {
        bytes.starts(with: Self.byteOrderMark) ? Self.byteOrderMark.count : 0
    }

    /// The start of the statements that every reader sees: after the line of a byte-order mark, if there is one.
    var firstStatementFloor: Int {
        guard firstTextOffset > 0 else { return 0 }
        return bytes.firstIndex(of: .lineFeed).map { $0 + 1 } ?? bytes.count
    }
}
