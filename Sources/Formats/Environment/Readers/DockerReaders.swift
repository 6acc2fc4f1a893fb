/// Docker: compose and `docker run --env-file`.
extension LineReader {
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
        guard isText(0..<bytes.count), isMeantForDocker else { return nil }
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

    /// Whether a file may be for `docker run --env-file`, which supports no quotes and no `export`.
    private var isMeantForDocker: Bool {
        !bytes.contains { $0.isQuote || $0 == .backtick } && ShellExports.of(bytes)?.isInEachLine != true
    }
}
