/// python-dotenv.
extension LineReader {
    /// `parse_stream` of python-dotenv's parser.py, on a text in which each kind of line break counts.
    mutating func pythonDotenv() -> [EnvironmentEntry]? {
        guard isText(0..<bytes.count) else { return nil }
        while index < bytes.count {
            skip { $0.isDotenvSpace }
            guard index < bytes.count else { break }
            let start = index
            if let entry = pythonBinding(from: start) { entries.append(entry) }
        }
        return entries
    }

    /// Nil for a comment, and for a line that it skips with a warning.
    private mutating func pythonBinding(from start: Int) -> EnvironmentEntry? {
        skipExport { $0.isDotenvSpace && !$0.isLineBreak }
        var name = index..<index
        if index < bytes.count, bytes[index] == .singleQuote {
            guard let close = first(.singleQuote, from: index + 1), close > index + 1 else { return skipLine() }
            name = index + 1..<close
            index = close + 1
        } else if index < bytes.count, bytes[index] != .hash {
            skip { $0 != .equals && $0 != .hash && !$0.isDotenvSpace }
            guard index > name.lowerBound else { return skipLine() }
            name = name.lowerBound..<index
        }
        skipBlanks()
        var end = index
        if index < bytes.count, bytes[index] == .equals {
            index += 1
            skipBlanks()
            if index < bytes.count, bytes[index] == .singleQuote || bytes[index] == .doubleQuote {
                guard let close = dotenvClosings(of: index).first else { return skipLine() }
                index = close + 1
                end = index
            } else {
                skip { !$0.isLineBreak }
                end = trimmed(index, from: end)
            }
        }
        skipBlanks()
        if index < bytes.count, bytes[index] == .hash { skip { !$0.isLineBreak } }
        guard index == bytes.count || bytes[index].isLineBreak else { return skipLine() }
        return name.isEmpty ? nil : EnvironmentEntry(name: text(name), range: start..<max(end, name.upperBound))
    }

    private mutating func skipLine() -> EnvironmentEntry? {
        skip { !$0.isLineBreak }
        return nil
    }
}
