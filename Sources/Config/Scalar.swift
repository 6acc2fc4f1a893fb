import AppleClientSecret
import Rotation

/// Parses the values of settings, except kinds of value that have a file of their own.
enum Plain {
    static func truth(_ text: String) throws(Mistake) -> Bool {
        switch text {
        case "true": return true
        case "false": return false
        default:
            let advice: String
            switch text.lowercased() {
            case "true", "yes", "on", "1", "y": advice = "write true"
            case "false", "no", "off", "0", "n": advice = "write false"
            default: advice = "write true or false"
            }
            throw Mistake("\(quoted(text)) is neither true nor false; \(advice)")
        }
    }

    static func team(_ text: String) throws(Mistake) -> TeamID {
        if let team = TeamID(text) { return team }
        throw Mistake(
            appleID(text, "team id", TeamID(text.uppercased())?.description, "Apple shows it beside your name"))
    }

    static func keyID(_ text: String) throws(Mistake) -> KeyID {
        if let keyID = KeyID(text) { return keyID }
        throw Mistake(
            appleID(
                text, "key id", KeyID(text.uppercased())?.description,
                "it stands in the name of the file, AuthKey_<KEYID>.p8"))
    }

    private static func appleID(_ text: String, _ kind: String, _ meant: String?, _ hint: String) -> String {
        let advice = meant.map { "did you mean \"\($0)\"?" } ?? "write its ten characters A–Z and 0–9 (\(hint))"
        return "\(quoted(text)) is not a \(kind); \(advice)"
    }

    static func clientID(_ text: String) throws(Mistake) -> ClientID {
        guard let clientID = ClientID(text) else {
            throw Mistake(
                "\(quoted(text)) is not a Services ID or App ID; write it as Apple shows it, such as com.example.web")
        }
        return clientID
    }

    static func keyName(_ text: String) throws(Mistake) -> KeyName {
        guard let name = KeyName(text) else { throw Mistake(badName(text)) }
        return name
    }

    /// The message for an invalid name of a key or client.
    static func badName(_ text: String) -> String {
        "\(quoted(text)) is not a name; use letters, digits, \".\", \"-\" and \"_\", 64 of them at most"
    }

    /// A user's or group's name or number.
    static func account(_ text: String, kind: String) throws(Mistake) -> String {
        let isNumber = text.utf8.allSatisfy { (48...57).contains($0) }
        // useradd(8) allows 32 characters; 4294967295 is no id: the kernel takes it as "leave as it is".
        let valid =
            isNumber
            ? UInt32(text).map { $0 != .max } ?? false
            : text.utf8.count <= 32 && text.utf8.first != UInt8(ascii: "-") && text.utf8.first != UInt8(ascii: ".")
                && text.utf8.allSatisfy { byte in
                    switch byte {
                    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), 48...57: true
                    default: "_-.$".utf8.contains(byte)
                    }
                }
        guard valid else { throw Mistake("\(quoted(text)) is not a \(kind); write its name or number") }
        return text
    }

    /// A credential's name by systemd's rules: a file name of printable ASCII without `:`.
    static func credential(_ text: String) throws(Mistake) -> String {
        guard text.utf8.count <= 255, text != ".", text != "..",
            text.utf8.allSatisfy({ (0x21..<0x7F).contains($0) && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: ":") })
        else {
            throw Mistake(
                "\(quoted(text)) is not a credential's name; write the name that LoadCredential= gives it, without a path"
            )
        }
        return text
    }

    /// - Parameter secret: the value may be a passphrase written in the wrong place and is not quoted.
    static func path(_ text: String, isFile: Bool = true, secret: Bool = false) throws(Mistake) -> AbsolutePath {
        var shown: String { secret ? "the value" : quoted(text) }
        guard text.hasPrefix("/") else { throw Mistake("\(shown) is not an absolute path; write it from \"/\" on") }
        if isFile && text.hasSuffix("/") { throw Mistake("\(shown) names a directory; write the path of a file") }
        guard let path = AbsolutePath(text) else {
            if text.split(separator: "/").contains("..") {
                throw Mistake(
                    "\(shown) holds \"..\", which may lead elsewhere than it seems; write the path without it")
            }
            throw Mistake(
                "\(shown) is not a path that can exist; write one on one line, with names of 255 bytes at most")
        }
        return path
    }
}
