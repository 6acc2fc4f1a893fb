package import Model

/// `env`: one variable of an environment file, every other byte of which is kept. See ``EnvironmentFile``.
package struct EnvironmentFormat: OutputFormat {
    package static let name = "env"
    package static let setting: FormatSetting? = FormatSetting(
        name: "variable", scope: .place, advice: "write the one that holds the secret",
        check: VariableName.problem)
    package static let isShared = true
    package static let words = "a variable, as NAME=value"

    package init(parameter: String?) {}

    package func parse(_ bytes: [UInt8], slots: some Collection<FileSlot>) throws(FormatError) -> ParsedFile {
        var file = try EnvironmentFile(bytes)
        let names = slots.compactMap(\.variable)
        var parsed = ParsedFile(slots: [:], otherLines: file.holdsOtherLines(than: names))
        // A working secret stays the current one, and is written again as every reader finds it.
        var meant: [String: [UInt8]] = [:]
        for (name, value) in file.values(of: names) {
            switch value {
            case .absent: break
            case .differing: parsed.slots[.variable(name)] = .foreign
            case .one(let value): parsed.slots[.variable(name)] = TokenLikeness.content(value)
            case .meant(let value):
                meant[name] = TokenLikeness.plain(value)
                parsed.slots[.variable(name)] = meant[name].map { .token($0) } ?? .foreign
            case .unclear(let error): parsed.slots[.variable(name)] = .unclear(error)
            }
        }
        // If it cannot be, ``editErrors(in:at:)`` has the reason, and the other variables are good.
        if !meant.isEmpty { parsed.isExact = file.setEach(meant).count == meant.count }
        return parsed
    }

    /// The other lines stay. But a file of another format, such as JSON, would no longer be one with an added line. A file without
    /// any assignment is an environment file only if it has no other text.
    package func mayReplace(_ bytes: [UInt8]) -> Bool {
        let hasMark = bytes.starts(with: EnvironmentFile.byteOrderMark)
        let text = TokenLikeness.trimmed(hasMark ? Array(bytes.dropFirst(EnvironmentFile.byteOrderMark.count)) : bytes)
        // JSON, PHP and XML, a key or certificate, a token.
        guard text.first != .openingBrace, text.first != .lessThan, !text.starts(with: "-----BEGIN".utf8),
            !TokenLikeness.isCompactJWS(text)
        else { return false }
        return [EnvironmentReader.systemd, .node, .bash].contains { reader in
            reader.entries(in: text)?.contains { VariableName.isUsual($0.name) } == true
        } || text.split(whereSeparator: \.isLineBreak).allSatisfy(Self.isBlankOrComment)
    }

    private static func isBlankOrComment(_ line: ArraySlice<UInt8>) -> Bool {
        line.first { !$0.isEnvironmentSpace }.map { $0 == .hash || $0 == .semicolon } ?? true
    }

    /// Whether every line is an assignment or a comment, and there is an assignment.
    static func isLike(_ bytes: [UInt8]) -> Bool {
        guard !bytes.contains(0), let entries = EnvironmentReader.systemd.entries(in: bytes), !entries.isEmpty,
            entries.allSatisfy({ VariableName.isValid(String(decoding: $0.name, as: UTF8.self)) })
        else { return false }
        var rest = bytes
        for entry in entries { for offset in entry.range { rest[offset] = .space } }
        return rest.split(whereSeparator: \.isLineBreak).allSatisfy(isBlankOrComment)
    }

    package func render(
        _ secrets: [FileSlot: RenderedSecret], into bytes: [UInt8]
    ) throws(FormatError) -> [UInt8] {
        var values: [String: [UInt8]] = [:]
        for case (.variable(let name), let secret) in secrets { values[name] = secret.token }
        var file = try EnvironmentFile(bytes)
        if let error = file.setEach(values).min(by: { $0.key < $1.key })?.value { throw error }
        return file.bytes
    }

    /// Tries an edit and discards it, because the text around the variable decides whether readers agree afterwards.
    package func editErrors(
        in bytes: [UInt8], at slots: some Collection<FileSlot>
    ) throws(FormatError) -> [FileSlot: FormatError] {
        var values: [String: [UInt8]] = [:]
        for name in slots.compactMap(\.variable) { values[name] = Array("token".utf8) }
        var file = try EnvironmentFile(bytes)
        return file.setEach(values).reduce(into: [:]) { $0[.variable($1.key)] = $1.value }
    }

    package static func candidate(
        in bytes: [UInt8], at slot: FileSlot
    ) throws(FormatError) -> SecretCandidate? {
        guard case .variable(let name) = slot else { return nil }
        let values = try EnvironmentFile(bytes).uncommentedValues(of: name)
        guard let value = values.first else { return .missing("\(name) is not set in it") }
        return values.count == 1 ? .bytes(value) : .missing("\(name) is set to different values in it")
    }
}
