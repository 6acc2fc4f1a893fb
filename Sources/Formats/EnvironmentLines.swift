/// How each reader of environment files that is no shell finds the lines and their entries.
struct EnvironmentLines {
    private let bytes: [UInt8]
    private var index: Int
    private var entries: [EnvironmentEntry] = []

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        // What a reader makes of a byte-order mark is `EnvironmentFile`'s concern.
        index = bytes.starts(with: EnvironmentFile.byteOrderMark) ? EnvironmentFile.byteOrderMark.count : 0
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
                add(withoutExport(name), start..<end)
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
            skip { $0.isPythonSpace }
            guard index < bytes.count else { break }
            let start = index
            if let entry = pythonBinding(from: start) { entries.append(entry) }
        }
        return entries
    }

    /// Nil for a comment, and for a line that it skips with a warning.
    private mutating func pythonBinding(from start: Int) -> EnvironmentEntry? {
        skipExport { $0.isPythonSpace && !$0.isLineBreak }
        var name = index..<index
        if index < bytes.count, bytes[index] == .singleQuote {
            guard let close = first(.singleQuote, from: index + 1), close > index + 1 else { return skipLine() }
            name = index + 1..<close
            index = close + 1
        } else if index < bytes.count, bytes[index] != .hash {
            skip { $0 != .equals && $0 != .hash && !$0.isPythonSpace }
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

    /// `Dotenv::ParseContent` of node_dotenv.cc: a quoted value ends at the next such quote, whatever is before it.
    ///
    /// Node 20, which takes a line without an equals sign for the beginning of the next name, is not followed in that.
    mutating func node() -> [EnvironmentEntry]? {
        while index < bytes.count {
            skip { $0.isSystemdSpace }
            let start = index
            if index < bytes.count, bytes[index] != .hash {
                skip { $0 != .equals && $0 != .lineFeed }
                // Without a name before the equals sign, it reads no further.
                if index == start { return entries }
                if index < bytes.count, bytes[index] == .equals {
                    let name = start..<index
                    index += 1
                    skipNodeValue()
                    add(withoutExport(name), start..<trimmed(index, from: name.upperBound + 1))
                }
            }
            skip { $0 != .lineFeed }
        }
        return entries
    }

    private mutating func skipNodeValue() {
        let start = index
        skip { $0 == .space || $0 == .tab || $0 == .carriageReturn }
        guard index < bytes.count, bytes[index].isQuote || bytes[index] == .backtick,
            let close = first(bytes[index], from: index + 1)
        else {
            index = start
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

    // MARK: Bytes

    private mutating func skip(while condition: (UInt8) -> Bool) {
        while index < bytes.count, condition(bytes[index]) { index += 1 }
    }

    private mutating func skipBlanks() { skip { $0.isPythonSpace && !$0.isLineBreak } }

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
        lines.index = name.lowerBound
        lines.skipExport { $0 == .space || $0 == .tab }
        return min(lines.index, name.upperBound)..<name.upperBound
    }

    private mutating func add(_ name: Range<Int>, _ range: Range<Int>) {
        let name = name.lowerBound..<trimmed(name.upperBound, from: name.lowerBound)
        entries.append(EnvironmentEntry(name: text(name), range: range))
    }

    /// `end` without the blanks and line breaks before it.
    private func trimmed(_ end: Int, from start: Int) -> Int {
        var end = end
        while end > start, bytes[end - 1].isDotenvSpace { end -= 1 }
        return end
    }

    private func first(_ byte: UInt8, from start: Int) -> Int? { bytes[start...].firstIndex(of: byte) }

    private func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    private func isText(_ range: Range<Int>) -> Bool { String(validating: bytes[range], as: UTF8.self) != nil }

    private static let export = Array("export".utf8)
}
