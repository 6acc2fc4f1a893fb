/// Text that others chose (names, link targets, what programs print and servers answer) as it may be shown to people.
///
/// The rules are:
/// - What a terminal acts on, or what changes how its neighbours look, is written as an escape: Unicode's categories Cc, Cf,
///   Zl and Zp, among them ESC, the C1 controls and the marks for the direction of text. systemd's journal shows an entry
///   with a control character as a blob.
/// - A backslash stays as it is, so that text which passes here twice is escaped once.
/// - A name in running text is quoted where it could be taken for something else than one name.
package enum Printable {
    /// `text` on one line.
    package static func line(_ text: String) -> String {
        escaped(text) { _ in true }
    }

    /// `text` with the line breaks and tabs that it has.
    package static func lines(_ text: String) -> String {
        escaped(text) { $0 != "\n" && $0 != "\t" }
    }

    /// Another program's sentence as a part of one of ours, where a semicolon stands before what helps.
    package static func clause(_ text: String) -> String {
        String(line(text).map { $0 == ";" ? "," : $0 })
    }

    /// A name or path within a sentence.
    package static func name(_ name: String) -> String {
        let isOneWord = name.unicodeScalars.allSatisfy { scalar in
            scalar.isASCII ? isOfWord(UInt8(scalar.value)) : !isUnprintable(scalar) && !scalar.properties.isWhitespace
        }
        guard !isOneWord || name.isEmpty else { return name }
        return "'" + line(name).split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"\'"#) + "'"
    }

    /// Whether `scalar` does something instead of being seen.
    package static func isUnprintable(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return scalar.value < 0x20 || scalar.value == 0x7F }
        return switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }

    /// The escape that stands for an unprintable scalar.
    package static func escape(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\n": return "\\n"
        case "\r": return "\\r"
        case "\t": return "\\t"
        default:
            let digits = String(scalar.value, radix: 16)
            return scalar.isASCII ? "\\x" + (digits.count < 2 ? "0" : "") + digits : "\\u{\(digits)}"
        }
    }

    private static func escaped(_ text: String, where isWanted: (Unicode.Scalar) -> Bool) -> String {
        guard text.unicodeScalars.contains(where: { isUnprintable($0) && isWanted($0) }) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            if isUnprintable(scalar) && isWanted(scalar) {
                result += escape(scalar)
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// Characters that mean nothing to a shell.
    static func isOfWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), 48...57: true
        default: "._-/=:,@%+".utf8.contains(byte)
        }
    }
}
