/// dotenv for JavaScript and Ruby.
extension LineReader {
    /// The regular expression `LINE` of dotenv's main.js and, without backticks, of parser.rb.
    mutating func dotenv(backticks: Bool) -> [EnvironmentEntry]? {
        while index < bytes.count {
            // White space before and behind the name includes line breaks.
            skip { $0.isDotenvSpace }
            if let entry = dotenvMatch(from: index, backticks) { entries.append(entry) }
            skip { !$0.isLineBreak }
        }
        return entries
    }

    /// The expression's match at `start`; ``index`` is after the value then.
    private mutating func dotenvMatch(from start: Int, _ backticks: Bool) -> EnvironmentEntry? {
        skipExport { $0.isDotenvSpace }
        var name = index
        skip { $0.isNamePart || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-") && backticks }
        if index == name, name > start {
            // A variable called "export".
            (name, index) = (start, start + 6)
        }
        guard index > name else { return nil }
        let nameEnd = index
        skip { $0.isDotenvSpace }
        guard index < bytes.count else { return nil }
        if bytes[index] == .equals {
            index += 1
        } else {
            guard bytes[nameEnd] == .colon, nameEnd + 1 < bytes.count, bytes[nameEnd + 1].isDotenvSpace else {
                index = start
                return nil
            }
            // One blank, which may be the line's break, belongs to the separator.
            index = nameEnd + (bytes[(nameEnd + 1)...].starts(with: [.carriageReturn, .lineFeed]) ? 3 : 2)
        }
        let valueStart = index
        skip { $0.isDotenvSpace }
        if index < bytes.count, bytes[index].isQuote || bytes[index] == .backtick && backticks,
            let close = dotenvClosings(of: index).first(where: { isEndOfValue(after: $0) })
        {
            index = close + 1
        } else {
            index = valueStart
            skip { !$0.isLineBreak && $0 != .hash }
        }
        return EnvironmentEntry(name: text(name..<nameEnd), range: start..<trimmed(index, from: valueStart))
    }

    /// The possible ends of the quote at `open` by a regular expression such as `"(\\"|[^"])*"`, the preferred one first. That is
    /// the next quote without a backslash before it, and then those with a backslash before that.
    func dotenvClosings(of open: Int) -> [Int] {
        var escaped: [Int] = []
        var position = open + 1
        while position < bytes.count {
            if bytes[position] == bytes[open] {
                guard bytes[position - 1] == .backslash, position - 1 > open else {
                    return [position] + escaped.reversed()
                }
                escaped.append(position)
            }
            position += 1
        }
        return escaped.reversed()
    }

    /// Whether only blanks and a comment follow in the line.
    private func isEndOfValue(after close: Int) -> Bool {
        let rest = bytes[(close + 1)...].first { !($0.isDotenvSpace && !$0.isLineBreak) }
        return rest.map { $0.isLineBreak || $0 == .hash } ?? true
    }
}
