/// An environment file in which variables are set while every other byte stays.
///
/// Programs read such files in different ways (``EnvironmentReader``). The rules:
///
/// - A file is edited if all readers that accept it find our variable in the same lines, and refused if two of them
///   disagree. A reader that rejects the whole file does not count.
/// - Every assignment of the variable is set; without any, one is appended, after adding a line break that the last
///   line lacks. If Node 20 would not find it there, it becomes the first line. It is written as `NAME=value`; indentation and `export` stay, the old value goes. A comment after
///   the value moves to a line of its own before it: systemd and docker would read it as the end of the value.
/// - After the edit, each reader must still find everything else as it was, and our variable with its new value:
///   otherwise nothing is written. So no edit removes a line of another variable.
/// - Only some readers understand the first line after a byte-order mark: it is set, but counts as no assignment.
/// - Line breaks stay as they are; new ones are like the file's last.
/// - Not edited either: a file with a NUL, where some readers stop.
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
    /// What the readers that accept the file find in it.
    private let readings: [Reading]
    /// Where each line begins.
    private let lineStarts: [Int]

    private struct Reading {
        let reader: EnvironmentReader
        let entries: [EnvironmentEntry]
    }

    init(_ bytes: [UInt8]) throws(FormatFlaw) {
        self.bytes = bytes
        lineStarts = [0] + bytes.indices.lazy.filter { bytes[$0] == .lineFeed }.map { $0 + 1 }
        if let offset = bytes.firstIndex(of: 0) {
            throw FormatFlaw(line: 1 + bytes[..<offset].count { $0 == .lineFeed }, reason: "it holds a NUL byte")
        }
        readings = EnvironmentReader.allCases.compactMap { reader in
            reader.entries(in: bytes).map { Reading(reader: reader, entries: $0) }
        }
    }

    /// Sets each variable to its value, whose bytes must all be plain (``Swift/UInt8/isTokenCharacter``).
    mutating func set(_ values: [String: [UInt8]]) throws(FormatFlaw) {
        let found = find(Set(values.keys))
        var all: [(name: String, assignment: EnvironmentAssignment)] = []
        var missing: [String] = []
        for name in values.keys.sorted() {
            let assignments = try found.assignments(of: name)
            all += assignments.map { (name, $0) }
            if assignments.allSatisfy({ $0.statement.lowerBound < firstStatementFloor }) { missing.append(name) }
        }
        var edited = bytes
        // From the end, so that the offsets of those before it stay right.
        for (name, assignment) in all.sorted(by: { $0.assignment.lineEnd > $1.assignment.lineEnd }) {
            if assignment.isCommentInTheWay {
                throw flaw(
                    at: assignment.statement.lowerBound,
                    "there is a comment after the value, and a byte-order mark where it would have to go")
            }
            edited.replaceSubrange(
                assignment.statement.lowerBound..<assignment.lineEnd,
                with: assignment.comment(in: bytes, before: lineBreak) + assignment.prefix(in: bytes)
                    + Array(name.utf8) + [.equals] + (values[name] ?? []))
        }
        var attempts = [edited]
        if !missing.isEmpty {
            let added = missing.flatMap { Array($0.utf8) + [.equals] + (values[$0] ?? []) + lineBreak }
            let isEnded = edited.last.map { $0 == .lineFeed } ?? true
            attempts = [edited + (isEnded ? [] : lineBreak) + added]
            if !isEnded, lineBreak.count > 1, let end = edited.lastIndex(of: .lineFeed) {
                // With a break of this file's kind, the last line's value would have a carriage return for a shell.
                attempts.append(edited[...end] + added + edited[(end + 1)...])
            }
        }
        var flaw: FormatFlaw?
        for attempt in attempts {
            do throws(FormatFlaw) {
                let file = try checked(attempt, values)
                let better = file.hasEverywhere(missing) ? nil : elsewhere(missing, values, in: edited)
                self = better ?? file
                return
            } catch {
                flaw = flaw ?? error
            }
        }
        guard let flaw, !missing.isEmpty else { if let flaw { throw flaw } else { return } }
        throw FormatFlaw(
            line: min(flaw.line, line(of: bytes.count) + 1),
            reason: "\(missing.joined(separator: ", ")) cannot be added at the end: \(flaw.reason)")
    }

    /// What the variable is set to.
    func value(of name: String) throws(FormatFlaw) -> Value { try value(find([name]).assignments(of: name)) }

    /// The different values to which the variable is set, without comments after them: what a person means by it.
    func uncommentedValues(of name: String) throws(FormatFlaw) -> Set<[UInt8]> {
        Set(try find([name]).assignments(of: name).map { $0.uncommentedValue(in: bytes) })
    }

    /// What each of the variables is set to. Of several that cannot be determined, the first is the one that is thrown for.
    func values(of names: some Collection<String>) throws(FormatFlaw) -> [String: Value] {
        let found = find(Set(names))
        var values: [String: Value] = [:]
        for name in names { values[name] = try value(found.assignments(of: name)) }
        return values
    }

    /// What every variable is set to; those are missing whose value cannot be determined.
    var knownValues: [String: [UInt8]] {
        let names = Set(
            Set(readings.flatMap { $0.entries.map(\.name) }).map { String(decoding: $0, as: UTF8.self) }
                .filter { VariableName.isValid($0) })
        let found = find(names)
        return names.reduce(into: [:]) { values, name in
            if let assignments = try? found.assignments(of: name), case .one(let value) = self.value(assignments) {
                values[name] = value
            }
        }
    }

    /// Whether the file holds anything but assignments of these variables, even a comment.
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

    // MARK: Checking

    /// The file with these bytes, if it is this one with the values set.
    private func checked(_ bytes: [UInt8], _ values: [String: [UInt8]]) throws(FormatFlaw) -> EnvironmentFile {
        let file = try EnvironmentFile(bytes)
        try file.check(values, since: self)
        return file
    }

    /// The file with the variables in another place than its end, where they reach everything that reads them; nil where there is
    /// none.
    private func elsewhere(_ missing: [String], _ values: [String: [UInt8]], in edited: [UInt8]) -> EnvironmentFile? {
        let added = missing.flatMap { Array($0.utf8) + [.equals] + (values[$0] ?? []) + lineBreak }
        // The first line of a program says what runs it.
        let first = edited.starts(with: "#!".utf8) ? edited.firstIndex(of: .lineFeed).map { $0 + 1 } : firstTextOffset
        let places = [first, ShellReader.exports(in: edited)?.end].compactMap { $0 }
        return places.lazy.compactMap { place in
            try? checked(Array(edited[..<place]) + added + edited[place...], values)
        }.first { $0.hasEverywhere(missing) }
    }

    /// Whether the variables also reach those that are no reason to refuse a file: Node 20, for which a line without an equals
    /// sign is the beginning of the next name, and programs that a shell starts next, if the file says what is exported.
    private func hasEverywhere(_ names: [String]) -> Bool {
        guard !names.isEmpty else { return true }
        var lines = LineReader(bytes)
        let ofNode = Set((lines.node20() ?? []).map(\.name))
        let exported = ShellReader.exports(in: bytes)?.names
        return names.map { Array($0.utf8) }.allSatisfy { name in
            ofNode.contains(name) && exported?.contains(name) != false
        }
    }

    /// Throws unless each reader that accepted the file as it was still finds everything else in it, and our variables
    /// with these values.
    private func check(_ values: [String: [UInt8]], since old: EnvironmentFile) throws(FormatFlaw) {
        let ours = Set(values.keys.map { Array($0.utf8) })
        for before in old.readings {
            guard let now = readings.first(where: { $0.reader == before.reader }) else {
                throw FormatFlaw(line: 1, reason: "\(before.reader.name) could no longer read the file")
            }
            let others = before.entries.filter { !ours.contains($0.name) }
            let left = now.entries.filter { !ours.contains($0.name) }
            for (number, entry) in others.enumerated()
            where number >= left.count || left[number].name != entry.name
                || !bytes[left[number].range].elementsEqual(old.bytes[entry.range])
            {
                throw old.flaw(
                    at: entry.range.lowerBound,
                    "\(before.reader.name) reads something else there too, which an edit would change")
            }
            if left.count > others.count {
                throw flaw(
                    at: left[others.count].range.lowerBound,
                    "\(before.reader.name) would find something there that is none of its variables now")
            }
        }
        let written = try self.values(of: values.keys)
        for (name, value) in values where written[name] != .one(value) {
            throw flaw(at: max(0, bytes.count - 1), "readers would not agree on what \(name) is set to")
        }
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

    /// Looks for all of these variables in one pass, so that the time depends only on the file's size.
    private func find(_ names: Set<String>) -> Found {
        var found = Found()
        // The lines in which each reader finds each variable.
        let known = Dictionary(uniqueKeysWithValues: names.map { (Array($0.utf8), $0) })
        let places = readings.map { reading in
            reading.entries.reduce(into: [String: Set<ClosedRange<Int>>]()) { places, entry in
                if let name = known[entry.name] { places[name, default: []].insert(lines(of: entry.range)) }
            }
        }
        for name in names {
            let all = places.reduce(into: Set<ClosedRange<Int>>()) { $0.formUnion($1[name] ?? []) }
            let sorted = all.sorted { ($0.lowerBound, $0.upperBound) < ($1.lowerBound, $1.upperBound) }
            if let (lines, sees, misses) = disagreement(on: name, sorted, places) {
                found.flaws[name] = flaw(name, lines, sees, misses, places[misses][name] ?? [])
            } else if sorted.count > Self.assignmentLimit {
                found.flaws[name] = FormatFlaw(
                    line: sorted[Self.assignmentLimit].lowerBound + 1,
                    reason: "\(name) is set more than \(Self.assignmentLimit) times in this file")
            } else {
                do throws(FormatFlaw) {
                    found.assignments[name] = try sorted.map { lines throws(FormatFlaw) in
                        try assignment(of: name, in: lines)
                    }
                } catch {
                    found.flaws[name] = error
                }
            }
        }
        return found
    }

    private func assignment(of name: String, in lines: ClosedRange<Int>) throws(FormatFlaw) -> EnvironmentAssignment {
        let statement = statement(lines)
        for offset in statement where bytes[offset] == .carriageReturn {
            if offset + 1 == bytes.count || bytes[offset + 1] != .lineFeed {
                throw flaw(at: offset, "there is a carriage return, which ends a line for some readers")
            }
        }
        guard let assignment = EnvironmentAssignment(bytes, statement: statement, name: name) else {
            throw flaw(at: statement.lowerBound, "\(name) is set there after other text")
        }
        // A `.p8` can be downloaded only once.
        guard !PrivateKeyText.isIn(assignment.unquotedValue(in: bytes)) else {
            throw FormatFlaw(
                line: lines.lowerBound + 1, reason: "\(name) holds a private key, which is never overwritten",
                advice: "write the variable from which the application reads the client secret")
        }
        return assignment
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

    /// How the reader that misses a variable in these lines reads them instead, and the line that is to be corrected.
    private func flaw(
        _ name: String, _ lines: ClosedRange<Int>, _ sees: Int, _ misses: Int, _ others: Set<ClosedRange<Int>>
    ) -> FormatFlaw {
        let (one, other) = (readings[sees].reader.name, readings[misses].reader.name)
        let line = lines.lowerBound + 1
        if let end = others.first(where: { $0.lowerBound == lines.lowerBound })?.upperBound {
            return FormatFlaw(
                line: line,
                reason: "the value of \(name) ends in line \(lines.upperBound + 1) for \(one), "
                    + "in line \(end + 1) for \(other)")
        }
        let start = lineStarts[lines.lowerBound]
        if let around = readings[misses].entries.last(where: {
            $0.range.lowerBound < start && $0.range.upperBound > start
        }) {
            return flaw(
                at: around.range.lowerBound,
                "for \(other), what begins there continues past line \(line), where \(one) reads \(name)")
        }
        return FormatFlaw(line: line, reason: "\(one) reads \(name) there, and \(other) does not")
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

    /// From 0.
    private func line(of offset: Int) -> Int {
        var (low, high) = (0, lineStarts.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if lineStarts[middle] <= offset { low = middle } else { high = middle }
        }
        return low
    }

    private func flaw(at offset: Int, _ reason: String) -> FormatFlaw {
        FormatFlaw(line: line(of: offset) + 1, reason: reason)
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
