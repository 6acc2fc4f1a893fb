/// Setting variables in an environment file while every other byte stays.
///
/// - Every assignment of a variable is set, also one behind a byte-order mark.
/// - Without any, one is appended, after adding a line break that the last line lacks. If Node 20 would not find it there, it
///   becomes the first line; if a shell would not export it there, it goes before `set +a`.
/// - It is written as `NAME=value`, after `export` if every other one is; indentation and `export` stay, the old value goes.
///   A comment after the value moves to a line of its own before it: systemd and docker would read it as the end of the value.
/// - Line breaks stay as they are; new ones are like the file's last.
/// - After the edit, each reader must still find everything else as it was, and our variable with its new value: otherwise
///   nothing is written. So no edit removes a line of another variable.
extension EnvironmentFile {
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
            let added = lines(setting: missing, values, in: edited)
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

    /// The file with these bytes, if it is this one with the values set.
    private func checked(_ bytes: [UInt8], _ values: [String: [UInt8]]) throws(FormatFlaw) -> EnvironmentFile {
        let file = try EnvironmentFile(bytes)
        try file.check(values, since: self)
        return file
    }

    /// The file with the variables in another place than its end, where they reach everything that reads them; nil where there is
    /// none.
    private func elsewhere(_ missing: [String], _ values: [String: [UInt8]], in edited: [UInt8]) -> EnvironmentFile? {
        let added = lines(setting: missing, values, in: edited)
        // The first line of a program says what runs it.
        let first = edited.starts(with: "#!".utf8) ? edited.firstIndex(of: .lineFeed).map { $0 + 1 } : firstTextOffset
        let places = [first, ShellExports.of(edited)?.end].compactMap { $0 }
        return places.lazy.compactMap { place in
            try? checked(Array(edited[..<place]) + added + edited[place...], values)
        }.first { $0.hasEverywhere(missing) }
    }

    /// New lines for the variables, written like the assignments that are there.
    private func lines(setting names: [String], _ values: [String: [UInt8]], in edited: [UInt8]) -> [UInt8] {
        let export = ShellExports.of(edited)?.isInEachLine == true ? Array("export ".utf8) : []
        return names.flatMap { export + Array($0.utf8) + [.equals] + (values[$0] ?? []) + lineBreak }
    }

    /// Whether the variables also reach those that are no reason to refuse a file: Node 20, for which a line without an equals
    /// sign is the beginning of the next name, and programs that a shell starts next, if the file says what is exported.
    private func hasEverywhere(_ names: [String]) -> Bool {
        guard !names.isEmpty else { return true }
        var lines = LineReader(bytes)
        let ofNode = Set((lines.node20() ?? []).map(\.name))
        let exported = ShellExports.of(bytes)?.names
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
}
