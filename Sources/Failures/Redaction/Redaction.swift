internal import AppleClientSecret

/// Makes untrusted text safe to show, such as a hook's output or a mistyped name.
///
/// The program redacts here and nowhere else:
/// - ``plain(_:)`` removes possible secrets from text that may hold one by mistake;
/// - ``foreign(_:)`` does that for the words of another process;
/// - ``printed(lineByLine:)`` and ``PrintedSecrets`` are for lines that a hook printed;
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
    static func plain(_ text: String, isOrdinary: (_ run: String, _ before: String) -> Bool) -> String {
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

    static let pemBeginning = "-----BEGIN "

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

extension [UInt8] {
    fileprivate func ends(with word: StaticString) -> Bool {
        let word = Array(word.description.utf8)
        return suffix(word.count).elementsEqual(word)
    }
}
