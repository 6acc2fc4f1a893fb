import AppleClientSecret
import Model

/// Converts the text of a scalar to a value, or to an error.
enum Scalar {
    static func truth(_ text: String) throws(ValueError) -> Bool {
        switch text {
        case "true": return true
        case "false": return false
        default:
            let advice =
                switch text.lowercased() {
                case "true", "yes", "on", "1", "y": "write true"
                case "false", "no", "off", "0", "n": "write false"
                default: "write true or false"
                }
            throw ValueError("\(quoted(text)) is neither true nor false; \(advice)")
        }
    }

    static func keyName(_ text: String) throws(ValueError) -> KeyName { try name(text, KeyName(text)) }

    static func targetName(_ text: String) throws(ValueError) -> TargetName { try name(text, TargetName(text)) }

    private static func name<Name>(_ text: String, _ name: Name?) throws(ValueError) -> Name {
        guard let name else { throw ValueError(badName(text)) }
        return name
    }

    /// The message for an invalid name of a key or client.
    static func badName(_ text: String) -> String {
        "\(quoted(text)) is not a name; use at most 64 letters, digits, \".\", \"-\" and \"_\""
    }

    /// The name of a key, a client or a target; nil, with an error, if the text is no name. Messages call it `noun`.
    static func name<Name: CustomStringConvertible>(
        of entry: YAMLEntry, _ noun: String, _ diagnostics: Diagnostics, _ parse: (String) -> Name?
    ) -> (name: Located<Name>?, owner: String) {
        guard let name = parse(entry.key.value) else {
            diagnostics.error(at: entry.key.position, badName(entry.key.value))
            return (nil, "this \(noun)")
        }
        return (Located(name, at: entry.key.position), "\(noun) \"\(name)\"")
    }

    /// A credential's name by systemd's rules: a file name of printable ASCII without `:`.
    ///
    /// - Parameter secret: the value may be the credential's content, written in the wrong place, and is not quoted.
    static func credential(
        _ text: String, longest: Int = SettingLimits.longestCredential, secret: Bool = false
    ) throws(ValueError) -> String {
        guard text.utf8.count <= longest, text != ".", text != "..",
            text.utf8.allSatisfy({ $0.isASCIIVisible && !"/:".utf8.contains($0) })
        else {
            throw ValueError(
                "\(secret ? "the value" : quoted(text)) is not a credential's name; write the name that LoadCredential= "
                    + "gives it" + (secret ? "" : ", without a path"))
        }
        return text
    }

    static func file(_ text: String) throws(ValueError) -> AbsolutePath { try path(text) }

    static func directory(_ text: String) throws(ValueError) -> AbsolutePath { try path(text, isFile: false) }

    /// - Parameter secret: the value may be a passphrase written in the wrong place and is not quoted.
    static func path(_ text: String, isFile: Bool = true, secret: Bool = false) throws(ValueError) -> AbsolutePath {
        var shown: String { secret ? "the value" : quoted(text) }
        if text.contains("-----BEGIN"), !secret {
            throw ValueError("a PEM file is pasted here; save it as a file that only root can read, and write its path")
        }
        guard text.hasPrefix("/") else {
            let isOfHome = text.hasPrefix("~") && !secret
            throw ValueError(
                "\(shown) is not an absolute path; begin it with \"/\""
                    + (isOfHome ? ": \"~\" has no meaning here" : ""))
        }
        if isFile && text.hasSuffix("/") { throw ValueError("\(shown) names a directory; write the path of a file") }
        guard let path = AbsolutePath(text) else {
            if text.split(separator: "/").contains("..") {
                throw ValueError(
                    "\(shown) contains \"..\", which can lead somewhere else; write the path without it")
            }
            throw ValueError(
                "\(shown) is not a possible path; write one line, with names of at most 255 bytes")
        }
        return path
    }

    /// A duration in `range`; the error describes the problem with the text.
    static func duration(_ text: String, examples: String, in range: ClosedRange<Seconds>) throws(ValueError)
        -> Seconds
    {
        guard let span = DurationText.parse(text) else {
            if !text.isEmpty, text.utf8.count <= 10, text.utf8.allSatisfy(\.isASCIIDigit) {
                throw ValueError("\"\(text)\" has no unit; write \(text)s, \(text)m, \(text)h or \(text)d")
            }
            throw ValueError("\(quoted(text)) is not a duration; write it like \(examples)")
        }
        guard span >= range.lowerBound else {
            throw ValueError("\(quoted(text)) is too short; write \(DurationText.text(range.lowerBound)) or more")
        }
        guard span <= range.upperBound else {
            throw ValueError("\(quoted(text)) is too long; write \(DurationText.text(range.upperBound)) or less")
        }
        return span
    }
}
