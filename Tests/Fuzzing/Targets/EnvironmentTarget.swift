@testable import Formats

/// An environment file is refused, or edited so that the variable is set for good and everything else stays as it is.
enum EnvironmentTarget {
    private static let name = Array("SECRET".utf8)
    private static let value = Array("new.value-1_x".utf8)
    private static let assignment = name + [.equals] + value

    static func run(_ bytes: [UInt8]) throws {
        // What stands there already could not be told from what was set.
        guard !contains(bytes, value), var file = try? EnvironmentFile(bytes) else { return }
        let others = names(in: bytes)
        let before = file.values(of: others)
        guard (try? file.set(["SECRET": value])) != nil else { return }
        let after = file.bytes
        let again = try EnvironmentFile(after)
        try promise(again.values(of: ["SECRET"])["SECRET"] == .one(value), "not read back")
        for (name, found) in again.values(of: others) {
            guard let value = before[name], isClear(value), isClear(found), found != .differing else { continue }
            try promise(found == value, "\(name) has changed")
        }
        var twice = again
        try twice.set(["SECRET": value])
        try promise(twice.bytes == after, "a second time something changes")
        try checkWhatStays(bytes, after)
    }

    private static func isClear(_ value: EnvironmentFile.Value) -> Bool {
        if case .unclear = value { false } else { true }
    }

    /// Told from the bytes alone, without the model of any reader.
    private static func checkWhatStays(_ before: [UInt8], _ after: [UInt8]) throws {
        guard let first = place(of: name, in: before) else {
            // As the last line, or before a last one that has no end.
            var lines = after.split(whereSeparator: \.isLineBreak).map(Array.init)
            let place = lines.lastIndex(of: assignment)
            if let place { lines.remove(at: place) }
            let isAdded = place != nil && lines == before.split(whereSeparator: \.isLineBreak).map(Array.init)
            return try promise(isAdded, "a variable that was not there is not added as a line of its own")
        }
        let lineStart = before[..<first].lastIndex(where: \.isLineBreak).map { $0 + 1 } ?? 0
        try promise(after.starts(with: before[..<lineStart]), "what stands before the variable has changed")
        try checkOrder(before, after)
        // Where no value goes on over a line's end, each line without the variable is there as it was.
        guard !before.contains(where: { [.singleQuote, .doubleQuote, .backslash].contains($0) }) else { return }
        var lines = foreignLines(after)[...]
        for line in foreignLines(before) {
            guard let found = lines.firstIndex(of: line) else {
                throw BrokenPromise(description: "a line is lost: \(String(decoding: line, as: UTF8.self))")
            }
            let isComment = lines[..<found].allSatisfy { $0.first { !$0.isEnvironmentSpace } == .hash }
            try promise(isComment, "a line is new that is no comment of the variable's")
            lines = lines[(found + 1)...]
        }
    }

    /// Nothing is invented and nothing changes places: without what was set, the rest is a part of what was there. A comment
    /// behind the value goes onto a line of its own before it.
    private static func checkOrder(_ before: [UInt8], _ after: [UInt8]) throws {
        var rest: [UInt8] = []
        for line in without(assignment, after).split(whereSeparator: \.isLineBreak) {
            let text = Array(line.drop(while: \.isEnvironmentSpace))
            if text.first == .hash, contains(before, text) { continue }
            rest += text.filter { !$0.isEnvironmentSpace }
        }
        var position = before.startIndex
        for byte in rest {
            guard let found = before[position...].firstIndex(of: byte) else {
                throw BrokenPromise(description: "something is there that was not, or not there")
            }
            position = found + 1
        }
    }

    private static func foreignLines(_ bytes: [UInt8]) -> [[UInt8]] {
        bytes.split(whereSeparator: \.isLineBreak).map(Array.init).filter { !contains($0, name) }
    }

    private static func place(of needle: [UInt8], in bytes: [UInt8]) -> Int? {
        bytes.indices.first { bytes[$0] == needle[0] && bytes[$0...].starts(with: needle) }
    }

    private static func contains(_ bytes: [UInt8], _ needle: [UInt8]) -> Bool { place(of: needle, in: bytes) != nil }

    private static func without(_ needle: [UInt8], _ bytes: [UInt8]) -> [UInt8] {
        var rest = bytes
        while let start = place(of: needle, in: rest) { rest.removeSubrange(start..<(start + needle.count)) }
        return rest
    }

    /// Other names that an equals sign follows, a few of them.
    private static func names(in bytes: [UInt8]) -> [String] {
        var names: Set<String> = []
        for end in bytes.indices where bytes[end] == .equals && names.count < 8 {
            let text = bytes[..<end].reversed().drop(while: \.isEnvironmentSpace).prefix(while: \.isNamePart)
            if text.last?.isNameStart == true { names.insert(String(decoding: text.reversed(), as: UTF8.self)) }
        }
        return names.subtracting(["SECRET"]).sorted()
    }
}
