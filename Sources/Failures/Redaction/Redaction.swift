internal import AppleClientSecret

/// Makes untrusted text safe to show, such as a hook's output or a mistyped name.
///
/// The program redacts here and nowhere else:
/// - ``plain(_:)`` removes possible secrets from text that may hold one by mistake;
/// - ``foreign(_:)`` does that for the words of another process;
/// - ``printed(lineByLine:)`` and ``HookOutputSecrets`` are for lines that a hook printed;
/// - ``EchoedSecrets`` is for servers, which may return a request in another form.
package enum Redaction {
    /// In characters. No sensible name, host label or path component is longer. No useful piece of a token or key is this short:
    /// even a signature has 86 characters.
    static let longestPlainRun = 39

    /// `text` without anything that could be a piece of a token or a key. PEM is cut off at its beginning, and every long run of
    /// base64url characters or `+` is replaced by its length. User and password in an address are replaced too. Unprintable
    /// characters are escaped.
    package static func plain(_ text: String) -> String { plain(text) { _, _ in false } }

    /// - Parameter isOrdinary: whether a long run is no piece of a secret, judged by itself and the text before it.
    private static func plain(_ text: String, isOrdinary: (_ run: String, _ before: String) -> Bool) -> String {
        var result = ""
        var run = ""
        func flush() {
            let isShown = run.utf8.count <= longestPlainRun || isOrdinary(run, result)
            result += isShown ? run : "(\(run.utf8.count) characters)"
            run = ""
        }
        for scalar in withoutCredentials(cutOffPEM(text)).unicodeScalars {
            switch scalar {
            case _ where scalar == "+" || scalar.isASCII && UInt8(scalar.value).isBase64URL:
                run.unicodeScalars.append(scalar)
            case "\n", "\t":
                flush()
                result.unicodeScalars.append(scalar)
            default:
                flush()
                if scalar.isUnprintable {
                    result += Printable.escape(scalar)
                } else {
                    result.unicodeScalars.append(scalar)
                }
            }
        }
        flush()
        return result
    }

    /// Text from another user's process or a server, safe to show. It is redacted as by ``plain(_:)``, and also short, on one
    /// line and quoted. An operator may follow text that looks like advice.
    package static func foreign(_ words: String) -> String {
        guard !words.isEmpty else { return "" }
        return Printable.foreign(
            plain(Printable.line(String(String.UnicodeScalarView(words.unicodeScalars.prefix(300))))))
    }

    /// Lines that a program printed, without anything that could be a piece of a token or a key. In addition to ``plain(_:)`` it
    /// removes whole PEM blocks and long base64 words with slashes in them. Git revisions, digests and long names stay. Best
    /// effort: a better disguised secret is not recognised. Nil for each line of which nothing is left.
    package static func printed(lineByLine lines: [String?]) -> [String?] {
        var isWithinPEM = false
        return lines.map { line in
            guard let line else { return nil }
            if isWithinPEM {
                // A truncated block ends at the first line that cannot be base64.
                let isEnd = line.contains(pemEnd)
                isWithinPEM = !isEnd && isCodeLine(line)
                if isEnd || isWithinPEM { return nil }
            }
            isWithinPEM = line.contains(pemBeginning) && !line.contains(pemEnd)
            return plain(withoutCode(line), isOrdinary: isOrdinary)
        }
    }

    /// Whether a line may belong to a PEM block: nothing but base64 between blanks, quotes, commas and backslashes.
    private static func isCodeLine(_ line: String) -> Bool {
        let decoration = " \t\"'`,\\".utf8
        let code = line.utf8.drop { decoration.contains($0) }.reversed().drop { decoration.contains($0) }
        return code.allSatisfy(isCode)
    }

    private static let pemBeginning = "-----BEGIN "
    private static let pemEnd = "-----END "

    /// The line with every long, mixed base64 word that has slashes but does not begin with one replaced by its length.
    private static func withoutCode(_ line: String) -> String {
        var result: [UInt8] = []
        var word: [UInt8] = []
        func flush() {
            let isPath = word.first == UInt8(ascii: "/") || !word.contains(UInt8(ascii: "/"))
            result += isPath || !isMixed(word) ? word : Array("(\(word.count) characters)".utf8)
            word = []
        }
        for byte in line.utf8 {
            if isCode(byte) {
                word.append(byte)
            } else {
                flush()
                result.append(byte)
            }
        }
        flush()
        return String(decoding: result, as: UTF8.self)
    }

    /// Whether a word is longer than any harmless one and mixes digits, upper and lower case.
    private static func isMixed(_ word: [UInt8]) -> Bool {
        word.count > longestPlainRun && word.contains { $0.isASCIIDigit } && word.contains { $0.isASCIICapital }
            && word.contains { $0.isASCIILetter && !$0.isASCIICapital }
    }

    /// The characters of base64 and base64url.
    private static func isCode(_ byte: UInt8) -> Bool {
        byte.isBase64URL || "+/=".utf8.contains(byte)
    }

    /// The text with `user:password@` in each address replaced.
    private static func withoutCredentials(_ text: String) -> String {
        let bytes = Array(text.utf8)
        var shown: [UInt8] = []
        var index = 0
        while index < bytes.count {
            shown.append(bytes[index])
            index += 1
            guard shown.ends(with: "://") else { continue }
            let authority = bytes[index...].prefix { $0 > 0x20 && !"/?#\"'<>".utf8.contains($0) }
            guard let at = authority.lastIndex(of: UInt8(ascii: "@")) else { continue }
            shown += "(credentials)".utf8
            index = at
        }
        return String(decoding: shown, as: UTF8.self)
    }

    private static func cutOffPEM(_ text: String) -> String {
        let mark = Array(pemBeginning.utf8)
        let bytes = Array(text.utf8)
        for start in bytes.indices where bytes[start] == mark[0] && bytes[start...].starts(with: mark) {
            return String(decoding: bytes[..<start], as: UTF8.self) + "(PEM)"
        }
        return text
    }
}

/// Long runs of characters that stay in a program's output.
extension Redaction {
    /// In characters, of a name that a program prints.
    private static let longestName = 100

    /// Whether a long run in a program's output is a git revision, a digest with a label, or a long name, such as a class has. A
    /// piece of base64 has one of these forms only by a chance of some millionths. A P-256 key in hexadecimal has 64 digits: as
    /// many digits without a word before them are removed.
    private static func isOrdinary(_ run: String, _ before: String) -> Bool {
        let isDigest = run.utf8.allSatisfy { $0.isASCIIDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0) }
        if isDigest {
            return switch run.utf8.count {
            case 40: true
            case 64: before.hasSuffix("sha256:")
            case 128: before.hasSuffix("sha512:")
            default: false
            }
        }
        let letters = run.utf8.filter { $0.isASCIILetter }
        let isName = run.utf8.allSatisfy { $0.isASCIILetter || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
        return isName && run.utf8.count <= longestName && letters.count { $0.isASCIICapital } * 3 <= letters.count
    }
}

extension [UInt8] {
    fileprivate func ends(with word: StaticString) -> Bool {
        let word = Array(word.description.utf8)
        return suffix(word.count).elementsEqual(word)
    }
}
