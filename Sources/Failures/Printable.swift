internal import AppleClientSecret

/// Escapes text from outside (names, link targets, output of programs, answers of servers) to show it to operators.
///
/// The rules are:
/// - Characters that a terminal acts on, or that change how their neighbours look, are escaped. These are Unicode's categories
///   Cc, Cf, Zl and Zp, such as ESC, the C1 controls and the marks for the direction of text. systemd's journal shows an entry
///   with a control character as a blob.
/// - A backslash is not escaped, so that text which is escaped twice looks as if escaped once.
/// - A name in running text is quoted if it could be mistaken for something else than one name.
/// - Words that another user, program or machine chose are quoted, so that they never look like ours.
package enum Printable {
    /// `text` escaped, on one line.
    package static func line(_ text: String) -> String {
        escaped(text) { _ in true }
    }

    /// `text` escaped, except its line breaks and tabs.
    package static func lines(_ text: String) -> String {
        escaped(text) { $0 != "\n" && $0 != "\t" }
    }

    /// Another program's message inside our own: semicolons become commas, as ours put one before the remedy.
    package static func clause(_ text: String) -> String {
        String(line(text).map { $0 == ";" ? "," : $0 })
    }

    /// A name or path for use within a sentence.
    package static func name(_ name: String) -> String {
        let isOneWord = name.unicodeScalars.allSatisfy { scalar in
            scalar.isASCII ? isOfWord(UInt8(scalar.value)) : !scalar.isUnprintable && !scalar.properties.isWhitespace
        }
        guard !isOneWord || name.isEmpty else { return name }
        return quoted(withRunsOfBlanksEscaped(name))
    }

    /// Text from another user or program, in quotes, on one line. Nothing in it ends the quotes.
    package static func quoted(_ text: String) -> String {
        let inner = line(text).replacing(#"\'"#, with: #"\x5c'"#)
        return "'" + inner.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"\'"#) + "'"
    }

    /// Text from a server, another user's process or another machine. A plain word such as an error code is unchanged, and all
    /// else is quoted. Semicolons become commas, because in our sentences one comes before the remedy.
    package static func foreign(_ text: String) -> String {
        let isCode = !text.isEmpty && text.utf8.allSatisfy { isOfWord($0) && !"/=:,@%+".utf8.contains($0) }
        return isCode ? text : quoted(withRunsOfBlanksEscaped(clause(text)))
    }

    /// A terminal that breaks a line after many blanks would show the rest as a separate line.
    private static func withRunsOfBlanksEscaped(_ text: String) -> String {
        var isAfterBlank = false
        return text.reduce(into: "") { result, character in
            result += character == " " && isAfterBlank ? escape(" ") : String(character)
            isAfterBlank = character == " "
        }
    }

    /// The escape for an unprintable scalar.
    package static func escape(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\n": return "\\n"
        case "\r": return "\\r"
        case "\t": return "\\t"
        default:
            return scalar.isASCII
                ? "\\x" + Hex.encode(UInt8(scalar.value)) : "\\u{\(String(scalar.value, radix: 16))}"
        }
    }

    private static func escaped(_ text: String, where isWanted: (Unicode.Scalar) -> Bool) -> String {
        guard text.unicodeScalars.contains(where: { $0.isUnprintable && isWanted($0) }) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            if scalar.isUnprintable && isWanted(scalar) {
                result += escape(scalar)
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// Whether `byte` has no special meaning to a shell.
    static func isOfWord(_ byte: UInt8) -> Bool {
        byte.isASCIIAlphanumeric || "._-/=:,@%+".utf8.contains(byte)
    }
}
