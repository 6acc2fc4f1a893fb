/// phpdotenv, as Laravel uses it.
extension LineReader {
    /// phpdotenv's Lines.php and EntryParser.php. It rejects a file with an unknown character in a name, several words without
    /// quotes, or a value without a closing quote.
    mutating func phpDotenv() -> [EnvironmentEntry]? {
        while index < bytes.count {
            let entry = phpEntry()
            var name = entry.lowerBound..<(bytes[entry].firstIndex(of: .equals) ?? entry.upperBound)
            let text = trimmed(entry.upperBound, from: entry.lowerBound)
            let start = bytes[entry].firstIndex { !$0.isPHPSpace } ?? text
            guard start < text, bytes[start] != .hash else { continue }
            let hasValue = name.upperBound < entry.upperBound
            name = start..<max(start, name.upperBound)
            while let last = bytes[name].last, last.isPHPSpace { name = name.lowerBound..<(name.upperBound - 1) }
            if name.count > 8, bytes[name].starts(with: Self.export), bytes[start + 6].isDotenvSpace {
                let first = bytes[(start + 6)..<name.upperBound].firstIndex { !$0.isDotenvSpace }
                name = (first ?? name.upperBound)..<name.upperBound
            }
            if name.count > 2, bytes[name.lowerBound].isQuote, bytes[name.upperBound - 1] == bytes[name.lowerBound] {
                name = (name.lowerBound + 1)..<(name.upperBound - 1)
            }
            guard isPHPName(name), !hasValue || isPHPValue((bytes[entry].firstIndex(of: .equals) ?? 0) + 1..<text)
            else {
                return nil
            }
            entries.append(EnvironmentEntry(name: self.text(name), range: start..<text))
        }
        return entries
    }

    /// Advances over one line, or over several that belong together. These begin with one that contains `="` and no other quote,
    /// even in a comment. They end with the next one that contains a quote.
    private mutating func phpEntry() -> Range<Int> {
        let start = index
        var line = phpLine()
        let opens = zip(bytes[line], bytes[line].dropFirst()).contains { $0 == .equals && $1 == .doubleQuote }
        guard opens, phpQuotes(in: line) < 2 else { return line }
        while index < bytes.count {
            line = phpLine()
            if phpQuotes(in: line) > 0 || bytes[line].elementsEqual([.doubleQuote]) { return start..<line.upperBound }
        }
        // It drops the lines of one that does not end.
        return bytes.count..<bytes.count
    }

    private mutating func phpLine() -> Range<Int> {
        let start = index
        skip { !$0.isLineBreak }
        let end = index
        if index < bytes.count { index += bytes[index...].starts(with: [.carriageReturn, .lineFeed]) ? 2 : 1 }
        return start..<end
    }

    /// The quotes in the line, except one at its beginning or after a backslash. Pairs of backslashes do not count.
    private func phpQuotes(in line: Range<Int>) -> Int {
        var count = 0
        var before: UInt8?
        var position = line.lowerBound
        while position < line.upperBound {
            if bytes[position] == .backslash, position + 1 < line.upperBound, bytes[position + 1] == .backslash {
                position += 2
                continue
            }
            if bytes[position] == .doubleQuote, let before, before != .backslash { count += 1 }
            before = bytes[position]
            position += 1
        }
        return count
    }

    private func isPHPName(_ name: Range<Int>) -> Bool {
        guard !name.isEmpty, let text = String(validating: bytes[name], as: UTF8.self) else { return false }
        return text.unicodeScalars.allSatisfy { scalar in
            if scalar == "_" || scalar == "." { return true }
            return switch scalar.properties.generalCategory {
            case .lowercaseLetter, .uppercaseLetter, .nonspacingMark, .spacingMark, .enclosingMark, .decimalNumber,
                .letterNumber, .otherNumber:
                true
            default: false
            }
        }
    }

    private func isPHPValue(_ value: Range<Int>) -> Bool {
        var position = value.lowerBound
        while position < value.upperBound, bytes[position].isPHPSpace { position += 1 }
        guard position < value.upperBound else { return true }
        let quote = bytes[position]
        if quote.isQuote {
            position += 1
            while position < value.upperBound, bytes[position] != quote {
                if quote == .doubleQuote, bytes[position] == .backslash {
                    position += 1
                    guard position < value.upperBound, "\"\\$fnrtv".utf8.contains(bytes[position]) else { return false }
                }
                position += 1
            }
            guard position < value.upperBound else { return false }
            position += 1
        } else {
            while position < value.upperBound, bytes[position] != .hash, !bytes[position].isDotenvSpace {
                position += 1
            }
        }
        while position < value.upperBound, bytes[position].isDotenvSpace { position += 1 }
        return position == value.upperBound || bytes[position] == .hash
    }
}
