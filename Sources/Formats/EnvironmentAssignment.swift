/// One assignment of a variable in an environment file, as offsets into its bytes.
struct EnvironmentAssignment {
    let name: String
    /// From the name, or the `export` before it, to the end of its value or of the comment after that.
    let statement: Range<Int>
    /// The offset of the line break that ends the statement, or the end of the file.
    let lineEnd: Int
    private let nameStart: Int
    private let hasByteOrderMark: Bool
    private let valueStart: Int
    /// Where a shell sees a comment after the value, or the statement's end.
    private let valueEnd: Int

    /// `statement` as an assignment of one of `names`; nil when it is something else.
    init?(_ bytes: [UInt8], statement: Range<Int>, names: Set<String>) {
        self.statement = statement
        var index = statement.lowerBound
        hasByteOrderMark = index == 0 && bytes.starts(with: EnvironmentFile.byteOrderMark)
        if hasByteOrderMark {
            index += EnvironmentFile.byteOrderMark.count
            while index < statement.upperBound, bytes[index].isEnvironmentSpace { index += 1 }
        }
        let export = Array("export".utf8)
        if bytes[index...].starts(with: export), index + export.count < statement.upperBound,
            bytes[index + export.count].isEnvironmentSpace
        {
            index += export.count
            while index < statement.upperBound, bytes[index].isEnvironmentSpace { index += 1 }
        }
        nameStart = index
        let nameBytes = bytes[index..<statement.upperBound].prefix { !$0.isEnvironmentSpace && $0 != .equals }
        name = String(decoding: nameBytes, as: UTF8.self)
        guard names.contains(name) else { return nil }
        index += nameBytes.count
        while index < statement.upperBound, bytes[index].isEnvironmentSpace { index += 1 }
        guard index < statement.upperBound, bytes[index] == .equals else { return nil }
        valueStart = index + 1
        valueEnd = ShellWords(bytes, valueStart..<statement.upperBound).commentStart ?? statement.upperBound
        var end = statement.upperBound
        while end < bytes.count, bytes[end].isEnvironmentSpace { end += 1 }
        lineEnd = end
    }

    /// Why setting the variable would also destroy something else; nil when it may be set.
    func flaw(in bytes: [UInt8]) -> String? {
        if hasByteOrderMark, valueEnd < statement.upperBound {
            return "there is a comment behind the value, and a byte-order mark where it would have to go"
        }
        let words = ShellWords(bytes, valueStart..<valueEnd)
        if words.holdsCommand { return "a shell would run a command there, and that is not overwritten" }
        if !words.assigned.isEmpty { return "a shell would set a second variable there, and that is not overwritten" }
        return nil
    }

    /// The comment after the value as a line of its own, indented like the statement; empty when there is none.
    func comment(in bytes: [UInt8], before lineBreak: [UInt8]) -> [UInt8] {
        guard valueEnd < statement.upperBound else { return [] }
        var indentation = statement.lowerBound
        while indentation > 0, bytes[indentation - 1].isEnvironmentSpace { indentation -= 1 }
        return bytes[valueEnd..<statement.upperBound] + lineBreak + bytes[indentation..<statement.lowerBound]
    }

    /// The bytes before the name: `export` and the blanks after it, a byte-order mark, or nothing.
    func prefix(in bytes: [UInt8]) -> ArraySlice<UInt8> {
        bytes[statement.lowerBound..<nameStart]
    }

    /// The value without blanks and quotes around it. A comment after it is included, because some readers take it as
    /// part of the value.
    func unquotedValue(in bytes: [UInt8]) -> [UInt8] {
        var value = bytes[valueStart..<statement.upperBound].drop { $0.isEnvironmentSpace }
        if value.count >= 2, let quote = value.first, quote == value.last,
            quote == .singleQuote || quote == .doubleQuote
        {
            let inner = value.dropFirst().dropLast()
            if !inner.contains(quote), !inner.contains(.backslash) { value = inner }
        }
        return Array(value)
    }
}

/// What a shell would see in the text after an assignment's equals sign.
struct ShellWords {
    private(set) var commentStart: Int?
    /// Whether there is a command substitution, a here-document or an operator that ends the command.
    private(set) var holdsCommand = false
    /// Further variables that the text assigns.
    private(set) var assigned: [String] = []

    init(_ bytes: [UInt8], _ range: Range<Int>) {
        var quote: UInt8?
        var index = range.lowerBound
        while index < range.upperBound {
            let byte = bytes[index]
            let next = index + 1 < range.upperBound ? bytes[index + 1] : nil
            switch byte {
            case quote: quote = nil
            case _ where quote == .singleQuote: break
            case .backslash: index += 1
            case .backtick: holdsCommand = true
            case .dollar where next == .openingParenthesis: holdsCommand = true
            case _ where quote != nil: break
            case .singleQuote, .doubleQuote: quote = byte
            // A here-document: a shell reads the following lines as its text.
            case .lessThan where next == .lessThan: holdsCommand = true
            case .semicolon, .ampersand, .bar, .space, .tab:
                if byte != .space, byte != .tab { holdsCommand = true }
                if next == .hash {
                    commentStart = index + 1
                    return
                }
                let word = bytes[(index + 1)..<range.upperBound]
                let name = word.prefix(while: \.isNamePart)
                if name.first?.isNameStart == true, word.dropFirst(name.count).first == .equals {
                    assigned.append(String(decoding: name, as: UTF8.self))
                }
            default: break
            }
            index += 1
        }
    }
}
