/// Node's `--env-file`.
extension LineReader {
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
}
