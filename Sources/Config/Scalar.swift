import AppleClientSecret
import Linux
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

    static func teamID(_ text: String) throws(ValueError) -> TeamID {
        if let team = TeamID(text) { return team }
        if text.hasPrefix("SEARCHADS") {
            throw ValueError("\(quoted(text)) is not a team id; Apple Ads shows one as SEARCHADS. and an id")
        }
        throw ValueError(
            appleID(text, "team id", TeamID(text.uppercased())?.description, "Apple shows it next to your name"))
    }

    static func keyID(_ text: String) throws(ValueError) -> KeyID {
        if let keyID = KeyID(text) { return keyID }
        throw ValueError(
            appleID(
                text, "key id", KeyID(text.uppercased())?.description,
                "it is in the name of the file, AuthKey_<KEYID>.p8"))
    }

    private static func appleID(_ text: String, _ kind: String, _ meant: String?, _ hint: String) -> String {
        let advice = meant.map { "did you mean \"\($0)\"?" } ?? "write its ten characters A–Z and 0–9 (\(hint))"
        return "\(quoted(text)) is not a \(kind); \(advice)"
    }

    static func clientID(_ text: String) throws(ValueError) -> ClientID {
        guard let clientID = ClientID(identifier: text) else {
            throw ValueError(
                "\(quoted(text)) is not a Services ID or App ID; write it as Apple shows it, such as com.example.web")
        }
        return clientID
    }

    /// The DER SubjectPublicKeyInfo of a key on P-256 (RFC 5480), uncompressed, in base64: as `public-key` prints it. Whether
    /// its point is on the curve is found when it is used. The value is not quoted: it may be a private key.
    static func publicKey(_ text: String) throws(ValueError) -> [UInt8] {
        let head: [UInt8] = [
            0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48,
            0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04,
        ]
        let characters = text.utf8.filter { $0 != UInt8(ascii: "=") }
        guard let bytes = Base64.decode(characters, in: .standard) ?? Base64URL.decode(characters),
            bytes.count == head.count + 64, bytes.starts(with: head)
        else {
            throw ValueError(
                "the value is not a public key on P-256; write what \"clientsecretd public-key\" prints on the machine "
                    + "that has the private key")
        }
        return bytes
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

    static func user(_ text: String) throws(ValueError) -> String {
        // Directories such as Active Directory have such names; systemd would take the escaped one for the user's.
        guard UnitTemplate.isInstance(text) else {
            throw ValueError(
                "\(quoted(text)) cannot be a part of a unit's name, as the writer's has to be; write the user's number")
        }
        return try account(text, kind: "user")
    }

    static func group(_ text: String) throws(ValueError) -> String { try account(text, kind: "group") }

    /// A user's or group's name or number.
    private static func account(_ text: String, kind: String) throws(ValueError) -> String {
        let isNumber = text.utf8.allSatisfy(\.isASCIIDigit)
        // useradd(8) allows 32 characters, and a directory's name and realm are longer. 4294967295 is no id, because the kernel
        // reads it as "do not change".
        let valid =
            isNumber
            ? UInt32(text).map { $0 != .max } ?? false
            : text.utf8.count <= (text.contains("@") ? 128 : 32) && text.utf8.first != UInt8(ascii: "-")
                && text.utf8.first != UInt8(ascii: ".")
                && text.utf8.first != UInt8(ascii: "@")
                && text.utf8.allSatisfy { $0.isASCIIAlphanumeric || "_-.$@".utf8.contains($0) }
        guard valid else { throw ValueError("\(quoted(text)) is not a \(kind); write its name or number") }
        return text
    }

    /// A credential's name by systemd's rules: a file name of printable ASCII without `:`.
    ///
    /// - Parameter secret: the value may be the credential's content, written in the wrong place, and is not quoted.
    static func credential(
        _ text: String, longest: Int = 255, secret: Bool = false
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

    // MARK: Durations

    /// A duration in `range`; the error describes the problem with the text.
    private static func duration(_ text: String, examples: String, in range: ClosedRange<Seconds>) throws(ValueError)
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

    /// The longest one is another one for each kind: ``WrittenLifetime/lifetime(of:)``.
    static func lifetime(_ text: String) throws(ValueError) -> WrittenLifetime {
        if text == "max" { return WrittenLifetime(text: text, span: nil) }
        if text.lowercased() == "max" { throw ValueError("\(quoted(text)) is not a duration; did you mean \"max\"?") }
        let span = try duration(text, examples: "90d, 12h, 1d12h or max", in: Lifetime.minimum...Seconds(.max))
        return WrittenLifetime(text: text, span: span)
    }

    static func kind(_ text: String) throws(ValueError) -> TokenKind {
        if let kind = TokenKind(text) { return kind }
        let near = suggestion(for: text, among: TokenKind.allCases.map(\.rawValue))
        throw ValueError("\(quoted(text)) is not a kind of token; \(near ?? "write one of \(TokenKind.names)")")
    }

    static func origin(_ text: String) throws(ValueError) -> WebOrigin {
        if let origin = WebOrigin(page: text) { return origin }
        var trimmed = text[...]
        while trimmed.hasSuffix("/") { trimmed = trimmed.dropLast() }
        throw ValueError(
            "\(quoted(text)) is not an origin; "
                + (WebOrigin(page: String(trimmed)).map { "write \"\($0)\"" }
                    ?? "write it like https://www.example.com, without a path"))
    }

    static func renewBefore(_ text: String) throws(ValueError) -> Seconds {
        try duration(text, examples: "30d, 12h or 1d12h", in: 1...TokenKind.maps.rules.longest)
    }

    /// At most a day.
    static func deliverOver(_ text: String) throws(ValueError) -> Seconds {
        try duration(text, examples: "10m, 1h or 0s", in: 0...86_400)
    }

    /// From the time over which machines spread their reports to a day.
    static func rolloutPause(_ text: String) throws(ValueError) -> Seconds {
        try duration(text, examples: "10m or 1h", in: 60...86_400)
    }

    /// At most a day: a hook that runs longer is hanging.
    static func timeout(_ text: String) throws(ValueError) -> Seconds {
        try duration(text, examples: "45s or 5m", in: 1...86_400)
    }
}
