internal import AppleClientSecret

/// Long runs of characters that stay in a program's output.
extension Redaction {
    /// In characters, of a name that a program prints.
    private static let longestName = 100

    /// Whether a long run in a program's output is a git revision, a digest with a label, or a long name, such as a class has. A
    /// piece of base64 has one of these forms only by a chance of some millionths. A P-256 key in hexadecimal has 64 digits: as
    /// many digits without a word before them are removed.
    static func isOrdinary(_ run: String, _ before: String) -> Bool {
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
