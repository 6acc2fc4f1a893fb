internal import Failures

/// Text that may be shown, made from text that somebody else has put together: what a hook printed, what was typed
/// where a name should stand.
package enum Redaction {
    /// No name, host label or path component of sense is this long, and no piece of a token or key that is worth
    /// anything is shorter: a signature alone has 86 characters.
    static let longestPlainRun = 39

    /// `text` without anything that could be a piece of a token or a key: PEM is cut off where it begins, and every long
    /// run of base64url characters is replaced by its length. What a terminal acts on is
    /// escaped.
    package static func plain(_ text: String) -> String {
        var result = ""
        var run = ""
        func flush() {
            result += run.utf8.count > longestPlainRun ? "(\(run.utf8.count) characters)" : run
            run = ""
        }
        for scalar in cutOffPEM(text).unicodeScalars {
            switch scalar {
            case "A"..."Z", "a"..."z", "0"..."9", "_", "-", "+":
                run.unicodeScalars.append(scalar)
            case "\n", "\t":
                flush()
                result.unicodeScalars.append(scalar)
            default:
                flush()
                if Printable.isUnprintable(scalar) {
                    result += Printable.escape(scalar)
                } else {
                    result.unicodeScalars.append(scalar)
                }
            }
        }
        flush()
        return result
    }

    private static func cutOffPEM(_ text: String) -> String {
        let mark = Array("-----BEGIN ".utf8)
        let bytes = Array(text.utf8)
        for start in bytes.indices where bytes[start] == mark[0] && bytes[start...].starts(with: mark) {
            return String(decoding: bytes[..<start], as: UTF8.self) + "(PEM)"
        }
        return text
    }
}
