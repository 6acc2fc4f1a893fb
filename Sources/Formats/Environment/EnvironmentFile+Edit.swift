/// Setting variables in an environment file while every other byte stays.
///
/// - Every assignment of a variable is set, also one behind a byte-order mark.
/// - Without any, one is appended, after a line break, if the last line has none. It goes to the first line or before `set +a` if
///   readers would otherwise disagree, Node 20 would not find it or a shell would not export it.
/// - It is written as `NAME=value`, after `export` if every other one is exported by itself or only that has a shell export it.
///   Indentation and `export` stay, and the old value goes. A comment after the value moves to a separate line before it, because
///   systemd and docker would read it as the end of the value.
/// - Existing line breaks do not change; new ones are like the file's last.
/// - A variable in which a client secret is only a part of the value is not set: the rest would be lost.
/// - After the edit, each reader must still find everything else as it was, and our variable with its new value: otherwise
///   nothing is written. So no edit removes a line of another variable.
extension EnvironmentFile {
    /// Sets variables as ``set(_:keeping:)`` does, except that one that cannot be set stays unchanged and keeps no other from
    /// being set.
    ///
    /// - Parameter kept: the variables set before, because an edit may let a reader accept the file that reads those otherwise.
    /// - Returns: why each of those was not set.
    mutating func setEach(_ values: [String: [UInt8]], keeping kept: [String: [UInt8]] = [:]) -> [String: FormatError] {
        var errors = findReplaceable(Set(values.keys)).formatErrors
        let rest = values.filter { errors[$0.key] == nil }
        guard !rest.isEmpty else { return errors }
        do throws(FormatError) {
            try set(rest, keeping: kept)
        } catch {
            // Which one of them keeps the others from being set is found by halves.
            let names = rest.keys.sorted()
            guard names.count > 1 else {
                errors[names[0]] = error
                return errors
            }
            var kept = kept
            for names in [Set(names.prefix(names.count / 2)), Set(names.dropFirst(names.count / 2))] {
                let half = rest.filter { names.contains($0.key) }
                errors.merge(setEach(half, keeping: kept)) { one, _ in one }
                kept.merge(half.filter { errors[$0.key] == nil }) { one, _ in one }
            }
        }
        return errors
    }

    /// Sets all of these variables, or none. The bytes of the values must be plain (``Swift/UInt8/isTokenCharacter``).
    ///
    /// - Parameter kept: the values of our other variables, before and afterwards.
    mutating func set(
        _ values: [String: [UInt8]], keeping kept: [String: [UInt8]] = [:]
    ) throws(FormatError) {
        let found = findReplaceable(Set(values.keys))
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
                throw formatError(
                    at: assignment.statement.lowerBound,
                    "there is a comment after the value, and a byte-order mark where it would have to go")
            }
            let indentation = assignment.indentation(in: bytes)
            edited.replaceSubrange(
                indentation.lowerBound..<assignment.lineEnd,
                with: assignment.comment(in: bytes, before: lineBreak) + bytes[indentation]
                    + assignment.prefix(in: bytes) + Array(name.utf8) + [.equals] + (values[name] ?? []))
        }
        let attempts = missing.isEmpty ? [edited] : additions(of: missing, values, to: edited)
        var best: (file: EnvironmentFile, reach: Int)?
        var formatError: FormatError?
        for attempt in attempts {
            do throws(FormatError) {
                let file = try checked(attempt, values, kept)
                let reach = file.reach(of: missing)
                if best.map({ $0.reach < reach }) ?? true { best = (file, reach) }
                if reach == Self.furthest { break }
            } catch {
                formatError = formatError ?? error
            }
        }
        if let best {
            self = best.file
        } else if let formatError, missing.isEmpty {
            throw formatError
        } else if let formatError {
            throw FormatError(
                line: min(formatError.line, line(of: max(0, bytes.count - 1)) + 1),
                reason: "\(missing.joined(separator: ", ")) cannot be added: \(formatError.reason)")
        }
    }

    /// The assignments of some variables as ``find(_:)`` has them, without those that hold more than a secret.
    func findReplaceable(_ names: Set<String>) -> Found {
        var found = find(names)
        for (name, assignments) in found.assignments {
            let holder = assignments.first { TokenLikeness.isWithinText($0.uncommentedValue(in: bytes)) }
            guard let holder else { continue }
            found.assignments[name] = nil
            found.formatErrors[name] = FormatError(
                line: line(of: holder.statement.lowerBound) + 1,
                reason: "\(name) holds more than a client secret, and an edit would remove the rest",
                advice: "write a variable that holds only the secret, or remove this value if nothing needs the rest")
        }
        return found
    }

    /// The file with these bytes, if it is this one with the values set.
    private func checked(
        _ bytes: [UInt8], _ values: [String: [UInt8]], _ kept: [String: [UInt8]]
    ) throws(FormatError) -> EnvironmentFile {
        let file = try EnvironmentFile(bytes)
        try file.check(values, kept, since: self)
        return file
    }

    /// The file with the missing variables in each possible place; the best of places that are equally good comes first.
    private func additions(
        of missing: [String], _ values: [String: [UInt8]], to edited: [UInt8]
    ) -> [[UInt8]] {
        let exports = ShellExports.of(edited)
        let added = lines(setting: missing, values, areExported: exports?.isInEachLine == true)
        let isEnded = edited.last.map { $0 == .lineFeed } ?? true
        var additions = [edited + (isEnded ? [] : lineBreak) + added]
        var places: [Int] = []
        if !isEnded, lineBreak.count > 1, let end = edited.lastIndex(of: .lineFeed) {
            // With a break of this file's kind, the last line's value would have a carriage return for a shell.
            places.append(end + 1)
        }
        // The first line of a program names its interpreter.
        let isProgram = edited.starts(with: "#!".utf8)
        places.append(isProgram ? edited.firstIndex(of: .lineFeed).map { $0 + 1 } ?? edited.count : firstTextOffset)
        if let end = exports?.end { places.append(end) }
        additions += places.map { edited[..<$0] + added + edited[$0...] }
        // If `set +a` does not begin its line, nothing can be added before it.
        if exports?.isOver == true {
            additions.append(edited + (isEnded ? [] : lineBreak) + lines(setting: missing, values, areExported: true))
        }
        return additions
    }

    /// New lines for the variables.
    ///
    /// - Parameter areExported: whether each variable that is there is exported by itself.
    private func lines(setting names: [String], _ values: [String: [UInt8]], areExported: Bool) -> [UInt8] {
        let export = areExported ? Array("export ".utf8) : []
        return names.flatMap { export + Array($0.utf8) + [.equals] + (values[$0] ?? []) + lineBreak }
    }

    /// How well programs find added variables that are no reason to refuse a file. The most counts that a shell exports them to
    /// the programs that it starts next, although the file limits its exports: one with `set -a` is a shell's. Then that Node 20
    /// finds them, for which a line without an equals sign is the beginning of the next name.
    private func reach(of names: [String]) -> Int {
        guard !names.isEmpty else { return Self.furthest }
        var lines = LineReader(bytes)
        let ofNode = Set(lines.node20().map(\.name))
        let exported = ShellExports.of(bytes)?.names
        let all = names.map { Array($0.utf8) }
        let isOfNode = all.allSatisfy(ofNode.contains)
        let isExported = all.allSatisfy { exported?.contains($0) != false }
        return (isExported ? 2 : 0) + (isOfNode ? 1 : 0)
    }

    private static let furthest = 3

    /// Throws unless each reader that accepted the file as it was still finds everything else in it, and our variables
    /// with these values.
    private func check(
        _ values: [String: [UInt8]], _ kept: [String: [UInt8]], since old: EnvironmentFile
    ) throws(FormatError) {
        let names = values.keys.map { Array($0.utf8) }
        // A command that may change our variable does not keep it from being set, wherever it is.
        let ours = Set(names + names.map(ShellReader.hidden))
        for before in old.readings {
            guard let now = readings.first(where: { $0.reader.name == before.reader.name }) else {
                throw FormatError(line: 1, reason: "\(before.reader.name) could no longer read the file")
            }
            let others = before.entries.filter { !ours.contains($0.name) }
            let left = now.entries.filter { !ours.contains($0.name) }
            // A command that assigns many variables is the range of each of them, and compared once.
            var equal: (old: Range<Int>, now: Range<Int>)?
            for (number, entry) in others.enumerated() {
                guard number < left.count, left[number].name == entry.name,
                    equal.map({ $0 == (entry.range, left[number].range) }) == true
                        || bytes[left[number].range].elementsEqual(old.bytes[entry.range])
                else {
                    throw old.formatError(
                        at: entry.range.lowerBound,
                        "\(before.reader.name) reads something else there too, which an edit would change")
                }
                equal = (entry.range, left[number].range)
            }
            if left.count > others.count {
                throw formatError(
                    at: left[others.count].range.lowerBound,
                    "\(before.reader.name) would find something there that is none of its variables now")
            }
        }
        let all = values.merging(kept) { one, _ in one }
        let written = self.values(of: all.keys)
        for (name, value) in all where written[name] != .one(value) {
            if case .unclear(let error) = written[name] { throw error }
            throw formatError(at: max(0, bytes.count - 1), "readers would not agree on what \(name) is set to")
        }
    }

    /// How lines end that are added: as the last one of the file does.
    var lineBreak: [UInt8] {
        guard let last = bytes.lastIndex(of: .lineFeed), last > 0, bytes[last - 1] == .carriageReturn else {
            return [.lineFeed]
        }
        return [.carriageReturn, .lineFeed]
    }
}
