import AppleClientSecret

/// A line that begins or ends a section of a configuration file.
enum SectionMark {
    /// `[name]`, as in INI, TOML and unit files.
    case heading
    /// `</name>`, as in Apache's files.
    case closingTag
    /// `name {`, as in many other files. In a shell it may begin a function.
    case block

    var mayBeOfShell: Bool { self == .block }

    /// Nil for another line.
    init?(_ line: ArraySlice<UInt8>) {
        let text = line.trimming(while: \.isASCIISpace)
        guard let first = text.first else { return nil }
        switch first {
        case UInt8(ascii: "["):
            guard Self.isHeading(text) else { return nil }
            self = .heading
        case .lessThan:
            guard text.starts(with: "</".utf8), text.last == .greaterThan, text.count > 3 else { return nil }
            self = .closingTag
        default:
            guard text.last == .openingBrace, first.isNameStart,
                text.dropLast().allSatisfy(Self.mayBeOfBlock)
            else { return nil }
            self = .block
        }
    }

    /// A comment may follow. `[ -n "$A" ]` is a test in a shell: a blank follows the bracket there, and words are divided by
    /// blanks.
    private static func isHeading(_ text: ArraySlice<UInt8>) -> Bool {
        guard let end = text.firstIndex(of: UInt8(ascii: "]")) else { return false }
        let name = text[..<end].drop { $0 == UInt8(ascii: "[") }
        let rest = text[end...].drop { $0 == UInt8(ascii: "]") || $0.isASCIISpace }
        let word = name.trimming(while: \.isASCIISpace)
        guard let first = word.first, first.isNamePart || "./*:@~-".utf8.contains(first),
            rest.first.map({ $0 == .hash || $0 == .semicolon }) ?? true
        else { return false }
        return name.first?.isASCIISpace == false || !word.contains { $0.isASCIISpace || $0 == .dollar }
    }

    private static func mayBeOfBlock(_ byte: UInt8) -> Bool {
        byte.isNamePart || byte == .space || byte == .tab || byte.isQuote || "./*:@~-".utf8.contains(byte)
    }
}
