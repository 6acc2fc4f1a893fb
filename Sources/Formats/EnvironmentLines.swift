/// How each reader of environment files that is no shell finds the lines and their entries.
struct EnvironmentLines {
    /// With a tab or a line feed in the place of what is one to the reader, byte for byte.
    private let bytes: [UInt8]
    private var index: Int
    private var entries: [EnvironmentEntry] = []

    /// - Parameters:
    ///   - blanks: the characters beyond ASCII's white space that are blanks to the reader.
    ///   - skipsMark: whether the reader skips a byte-order mark; to the others it is part of the first line's text.
    init(_ bytes: [UInt8], blanks: UnicodeBlanks = .none, skipsMark: Bool = false) {
        self.bytes = blanks.replaced(in: bytes)
        index = skipsMark && bytes.starts(with: EnvironmentFile.byteOrderMark) ? EnvironmentFile.byteOrderMark.count : 0
    }

    // MARK: systemd

    /// `parse_env_file_internal` in systemd's env-file.c. It ignores a line whose name is preceded by `export`; the line
    /// still counts as the variable's, because the file is for other programs then.
    mutating func systemd(continuesComments: Bool) -> [EnvironmentEntry]? {
        while index < bytes.count {
            let start = index
            let first = bytes[index]
            index += 1
            if first == .hash || first == .semicolon {
                skipSystemdComment(continues: continuesComments)
            } else if !first.isSystemdSpace {
                while index < bytes.count, bytes[index] != .equals, !bytes[index].isLineBreak { index += 1 }
                guard index < bytes.count, bytes[index] == .equals else { continue }
                let name = start..<index
                index += 1
                skipSystemdValue()
                let end = trimmed(index, from: name.upperBound + 1)
                guard isText(name), isText(name.upperBound + 1..<end) else { return nil }
                add(withoutExport(name), start..<end, isSpace: \.isSystemdSpace)
            }
        }
        return entries
    }

    private mutating func skipSystemdComment(continues: Bool) {
        while index < bytes.count, !bytes[index].isLineBreak {
            if bytes[index] == .backslash, index + 1 < bytes.count, continues || !bytes[index + 1].isLineBreak {
                index += 1
            }
            index += 1
        }
    }

    /// Advances to the line break that ends the value.
    private mutating func skipSystemdValue() {
        // Quotes count only before the first other character, but after a closing quote again.
        var isBeforeValue = true
        while index < bytes.count, !bytes[index].isLineBreak {
            let byte = bytes[index]
            index += 1
            switch byte {
            case .singleQuote where isBeforeValue, .doubleQuote where isBeforeValue:
                while index < bytes.count, bytes[index] != byte {
                    index += bytes[index] == .backslash && byte == .doubleQuote ? 2 : 1
                }
                index += 1
            case .backslash:
                isBeforeValue = false
                index += 1
            case .space, .tab: break
            default: isBeforeValue = false
            }
        }
        index = min(index, bytes.count)
    }

    // MARK: python-dotenv

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

    // MARK: dotenv for JavaScript and Ruby

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

    /// What the expression matches at `start`; ``index`` is behind the value then.
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

    /// Where a regular expression of the form `"(\\"|[^"])*"` lets the quote at `open` end, the preferred place first: at
    /// the next one that is not behind a backslash, then at those behind one before it.
    private func dotenvClosings(of open: Int) -> [Int] {
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

    // MARK: Node

    /// `Dotenv::ParseContent` of node_dotenv.cc: a quoted value ends at the next such quote, whatever is before it. A carriage
    /// return counts as nothing at all.
    ///
    /// Node 20, which takes a line without an equals sign for the beginning of the next name, is not followed in that.
    ///
    /// - Parameter stopsWithoutName: whether it reads no further at an equals sign without a name before it, as Node 20 does;
    ///   later ones take what is behind it for the next entry.
    mutating func node(stopsWithoutName: Bool) -> [EnvironmentEntry]? {
        while index < bytes.count {
            skip { $0.isSystemdSpace }
            let start = index
            if index < bytes.count, bytes[index] != .hash {
                skip { $0 != .equals && $0 != .lineFeed }
                if index < bytes.count, bytes[index] == .equals {
                    let name = start..<index
                    index += 1
                    if name.isEmpty {
                        if stopsWithoutName { return entries }
                        continue
                    }
                    skipNodeValue(passesBlankLine: !stopsWithoutName)
                    let end = trimmed(index, from: name.upperBound + 1)
                    add(withoutExport(name), start..<end, isSpace: \.isSystemdSpace)
                }
            }
            skip { $0 != .lineFeed }
        }
        return entries
    }

    /// - Parameter passesBlankLine: whether blanks instead of a value are skipped with the line breaks behind them.
    private mutating func skipNodeValue(passesBlankLine: Bool) {
        let start = index
        skip { $0 == .space || $0 == .tab || $0 == .carriageReturn }
        if passesBlankLine, bytes[start..<index].contains(where: { $0 != .carriageReturn }) {
            skip { $0.isSystemdSpace }
        }
        guard index < bytes.count, bytes[index].isQuote || bytes[index] == .backtick,
            let close = first(bytes[index], from: index + 1)
        else {
            // An unquoted value ends at any number sign.
            skip { $0 != .lineFeed && $0 != .hash }
            return
        }
        index = close + 1
    }

    // MARK: docker

    /// `parser` of compose-go's dotenv: rejects a file with an unknown character in a name, or a quote without an end.
    mutating func compose() -> [EnvironmentEntry]? {
        while index < bytes.count {
            skip { $0.isDotenvSpace }
            guard index < bytes.count else { break }
            if bytes[index] == .hash {
                skip { $0 != .lineFeed }
                continue
            }
            let start = index
            skipExport { $0.isDotenvSpace }
            let name = index
            skip { $0.isComposeNamePart || $0.isDotenvSpace && $0 != .lineFeed }
            let nameEnd = trimmed(index, from: name)
            guard !bytes[name..<nameEnd].contains(.space) else { return nil }
            guard index < bytes.count, bytes[index] != .lineFeed else {
                // A name without a value takes it from compose's own environment.
                add(name..<nameEnd, start..<nameEnd)
                continue
            }
            guard bytes[index] == .equals || bytes[index] == .colon else { return nil }
            index += 1
            let valueStart = index
            skip { $0.isDotenvSpace && $0 != .lineFeed }
            if index < bytes.count, bytes[index].isQuote {
                let quote = bytes[index]
                index += 1
                while index < bytes.count, bytes[index] != quote { index += bytes[index] == .backslash ? 2 : 1 }
                guard index < bytes.count else { return nil }
                index += 1
            } else {
                skip { $0 != .lineFeed }
            }
            add(name..<nameEnd, start..<trimmed(index, from: valueStart))
        }
        return entries
    }

    /// `ParseEnvFile` of docker's client: physical lines.
    mutating func docker() -> [EnvironmentEntry]? {
        guard isText(0..<bytes.count), !bytes.contains(where: { $0.isQuote || $0 == .backtick }) else { return nil }
        while index < bytes.count {
            skip { $0.isDotenvSpace }
            let start = index
            skip { $0 != .lineFeed }
            guard start < index, bytes[start] != .hash else { continue }
            let end = bytes[index - 1] == .carriageReturn ? index - 1 : index
            let name = start..<(bytes[start..<end].firstIndex(of: .equals) ?? end)
            guard !name.isEmpty, !bytes[name].contains(where: { $0 == .space || $0 == .tab }) else { return nil }
            if name.upperBound < end { add(name, start..<end) }
        }
        return entries
    }

    // MARK: phpdotenv

    /// phpdotenv's Lines.php and EntryParser.php: it rejects a file with an unknown character in a name, several words
    /// without quotes, or a value that a quote does not end.
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

    /// Advances over one line, or over as many as belong together: from one with `="`, though it be a comment, that holds no
    /// other quote to the next one that holds a quote.
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

    /// The quotes in the line that neither begin it nor follow a backslash, pairs of which do not count.
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

    // MARK: Bytes

    private mutating func skip(while condition: (UInt8) -> Bool) {
        while index < bytes.count, condition(bytes[index]) { index += 1 }
    }

    private mutating func skipBlanks() { skip { $0.isDotenvSpace && !$0.isLineBreak } }

    /// Skips `export` where white space follows, and that.
    private mutating func skipExport(_ isSpace: (UInt8) -> Bool) {
        guard bytes[index...].starts(with: Self.export), index + 6 < bytes.count, isSpace(bytes[index + 6]) else {
            return
        }
        index += 6
        skip(while: isSpace)
    }

    private func withoutExport(_ name: Range<Int>) -> Range<Int> {
        var lines = self
        lines.index = withoutMark(name).lowerBound
        lines.skipExport { $0 == .space || $0 == .tab }
        return min(lines.index, name.upperBound)..<name.upperBound
    }

    private mutating func add(
        _ name: Range<Int>, _ range: Range<Int>, isSpace: (UInt8) -> Bool = \.isDotenvSpace
    ) {
        var name = name
        while let last = bytes[name].last, isSpace(last) { name = name.lowerBound..<(name.upperBound - 1) }
        entries.append(EnvironmentEntry(name: text(name), range: range))
    }

    /// `end` without the blanks and line breaks before it.
    private func trimmed(_ end: Int, from start: Int) -> Int {
        var end = end
        while end > start, bytes[end - 1].isDotenvSpace { end -= 1 }
        return end
    }

    private func first(_ byte: UInt8, from start: Int) -> Int? { bytes[start...].firstIndex(of: byte) }

    /// A name, without a byte-order mark before it: how readers differ about that is `EnvironmentFile`'s concern.
    private func text(_ range: Range<Int>) -> [UInt8] { Array(bytes[withoutMark(range)]) }

    private func withoutMark(_ range: Range<Int>) -> Range<Int> {
        guard range.lowerBound == 0, bytes[range].starts(with: EnvironmentFile.byteOrderMark) else { return range }
        return EnvironmentFile.byteOrderMark.count..<range.upperBound
    }

    private func isText(_ range: Range<Int>) -> Bool { String(validating: bytes[range], as: UTF8.self) != nil }

    private static let export = Array("export".utf8)
}
