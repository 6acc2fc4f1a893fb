internal import AppleClientSecret

/// The output of a hook: what is hidden in it, and which long runs of characters stay, such as digests and names.
extension Redaction {
    /// Lines that a program printed, without anything that could be a piece of a token or a key. In addition to ``plain(_:)`` it
    /// removes whole PEM blocks and long base64 words with slashes in them. Git revisions, digests and long names stay. Best
    /// effort: a better disguised secret is not recognised. Nil for each line of which nothing is left.
    package static func printed(lineByLine lines: [String?]) -> [String?] {
        var isWithinPEM = false
        return lines.map { line in
            guard let line else { return nil }
            if isWithinPEM {
                // A truncated block ends at the first line that cannot belong to one.
                let isEnd = line.contains(pemEnd)
                isWithinPEM = isEnd ? opensPEM(line) : isCodeLine(line) || isPEMHeader(line)
                if isEnd || isWithinPEM { return nil }
            }
            isWithinPEM = opensPEM(line)
            return plain(withoutCode(line), isOrdinary: isOrdinary)
        }
    }

    private static let pemEnd = "-----END "

    /// Whether a block begins in the line and does not end there. It may begin right behind the end of another one, as after `cat`
    /// of a file without a line break at its end.
    private static func opensPEM(_ line: String) -> Bool {
        line.split(separator: pemEnd, omittingEmptySubsequences: false).last?.contains(pemBeginning) == true
    }

    /// Whether a line is one that OpenSSL writes before the base64 of an encrypted key (RFC 1421).
    private static func isPEMHeader(_ line: String) -> Bool {
        ["Proc-Type: ", "DEK-Info: "].contains { line.contains($0) }
    }

    /// Whether a line may belong to a PEM block: nothing but base64 between blanks, quotes, commas and backslashes.
    private static func isCodeLine(_ line: String) -> Bool {
        let decoration = " \t\"'`,\\".utf8
        let code = line.utf8.drop { decoration.contains($0) }.reversed().drop { decoration.contains($0) }
        return code.allSatisfy(isCode)
    }

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
