/// Node's `--env-file`.
extension LineReader {
    /// `Dotenv::ParseContent` of node_dotenv.cc: a quoted value ends at the next such quote, whatever is before it. A carriage
    /// return counts as nothing at all.
    ///
    /// - Parameter stopsWithoutName: whether it stops at an equals sign without a name or blanks before it, as Node 20 does.
    ///   Later versions read the text after it as the next entry.
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
                        guard stopsWithoutName else { continue }
                        if isWithoutBlanks(before: start) { return entries }
                    }
                    skipNodeValue(passesBlankLine: !stopsWithoutName)
                    let end = trimmed(index, from: name.upperBound + 1)
                    if !name.isEmpty { add(withoutExport(name), start..<end, isSpace: \.isSystemdSpace) }
                }
            }
            skip { $0 != .lineFeed }
        }
        return entries
    }

    /// Whether Node 20 sees no blanks before an equals sign here: its line begins with it, or the file with spaces and it. With
    /// blanks between, their last byte or the one before them becomes a name.
    private func isWithoutBlanks(before end: Int) -> Bool {
        let before = bytes[..<end]
        return before.last { $0 != .carriageReturn } == .lineFeed
            || before.allSatisfy { $0 == .space || $0 == .carriageReturn }
    }

    /// Node 20's rules: a name reaches from the end of the entry before it to the equals sign. It includes all lines between,
    /// except empty ones and comments. Only spaces around it do not count. At an equals sign without a name it reads no further.
    /// No file is refused for that, because all other readers go on after such a line.
    mutating func node20() -> [EnvironmentEntry] {
        func isNothing(_ byte: UInt8) -> Bool { byte == .space || byte == .carriageReturn }
        skip { isNothing($0) }
        while index < bytes.count {
            skip { $0 == .carriageReturn }
            guard index < bytes.count else { break }
            if bytes[index] == .lineFeed || bytes[index] == .hash, let end = first(.lineFeed, from: index) {
                index = end + 1
                continue
            }
            guard let equals = first(.equals, from: index) else { break }
            var name = index..<equals
            while let byte = bytes[name].first, isNothing(byte) { name = (name.lowerBound + 1)..<equals }
            index = equals + 1
            guard bytes[name].contains(where: { !isNothing($0) }) else { break }
            skipNodeValue(passesBlankLine: false)
            let end = trimmed(index, from: equals + 1)
            let export = Array("export ".utf8)
            if bytes[name].starts(with: export) {
                add((name.lowerBound + export.count)..<equals, name.lowerBound..<end, isSpace: isNothing)
            } else {
                add(name, name.lowerBound..<end, isSpace: isNothing)
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
}
