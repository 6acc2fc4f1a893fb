package import AppleClientSecret

/// A way in which a file holds secrets. Pure bytes: nothing here opens a file or judges a signature.
///
/// To add one, write it in a file of its own, put it into ``FormatRegistry/all``, and describe it in docs/configuration.md.
package protocol OutputFormat: Sendable {
    /// As `format:` and `--format` call it.
    static var name: String { get }
    /// The setting that goes with it in the configuration, without which it means nothing; nil where there is none.
    static var setting: FormatSetting? { get }
    /// Whether several outputs may share the file, and lines that others have written.
    static var isShared: Bool { get }
    /// What the file holds, as an answer in a menu.
    static var words: String { get }

    /// - Parameter parameter: the setting's value where it concerns the whole file, checked before by ``FormatSetting/check``.
    init(parameter: String?)

    /// What the bytes hold.
    ///
    /// - Parameter places: which places are asked for.
    func parse(_ bytes: [UInt8], places: some Collection<FormatPlace>) throws(FormatFlaw) -> ParsedFile

    /// Whether a write would lose nothing but a secret in this format, of any program, or nothing at all.
    func mayReplace(_ bytes: [UInt8]) -> Bool

    /// The bytes with these secrets in their places; all else of a shared file stays as it is.
    func render(_ secrets: [FormatPlace: RenderedSecret], into bytes: [UInt8]) throws(FormatFlaw) -> [UInt8]

    /// What is in the secret's place in a file whose format is not known; nil where the file does not seem to be of this
    /// format. More lenient than ``parse(_:places:)``: `inspect` says what is wrong with a secret, and
    /// can only do so of one that is found.
    static func candidate(in bytes: [UInt8], at place: FormatPlace) throws(FormatFlaw) -> SecretCandidate?
}

/// What may be the secret in another program's file.
package enum SecretCandidate: Hashable, Sendable {
    /// Whatever these bytes are, they are in its place.
    case bytes([UInt8])
    /// Why there is none, as the end of a sentence.
    case missing(String)
}

/// A setting that only one format has.
package struct FormatSetting: Sendable {
    package enum Scope: Sendable {
        /// It names the place within the file.
        case place
        /// It is about the whole file.
        case file
    }

    package let name: String
    package let scope: Scope
    /// What to write for it, as the end of a sentence.
    package let advice: String
    /// What is wrong with a value, and what to write instead; nil when nothing is. `quoted` shows what is there, as far
    /// as it may be shown.
    package let check: @Sendable (_ value: String, _ quoted: (String) -> String) -> String?
}

/// Where in a file one secret is.
package enum FormatPlace: Hashable, Sendable {
    /// The file is only about this secret.
    case whole
    case variable(String)
}

/// A secret as formats write it.
package struct RenderedSecret: Sendable {
    package let token: [UInt8]
    package let claims: Claims

    package init(token: [UInt8], claims: Claims) {
        self.token = token
        self.claims = claims
    }
}

/// What a file was found to hold.
package struct ParsedFile: Sendable {
    package enum Content: Hashable, Sendable {
        /// Bytes that may be a token.
        case token([UInt8])
        /// Anything else: damage, or two different values for one variable.
        case foreign
    }

    /// A place that is missing here is absent.
    package var places: [FormatPlace: Content]
    /// Whether the file holds anything else.
    package var otherLines = false
    /// Whether the file is as this format writes it, or may stay as it is.
    package var isExact = true
}

/// Why a file cannot be read or written safely: the line, from 1, and what is wrong with it in words.
package struct FormatFlaw: Error, Hashable, Sendable {
    package let line: Int
    package let reason: String
    /// What to do instead of correcting the line; nil where nothing else helps.
    package let advice: String?

    package init(line: Int, reason: String, advice: String? = nil) {
        self.line = line
        self.reason = reason
        self.advice = advice
    }
}

/// What may be a token at all.
enum TokenBytes {
    static func plain(_ bytes: [UInt8]) -> [UInt8]? {
        bytes.isEmpty || bytes.count > Token.maximumLength || !bytes.allSatisfy(\.isTokenCharacter) ? nil : bytes
    }

    /// What bytes are in a secret's place; nil where there is nothing but blanks, which is as good as no place.
    static func content(_ bytes: [UInt8]?) -> ParsedFile.Content? {
        if let bytes, bytes.allSatisfy(\.isASCIISpace) { return nil }
        return bytes.flatMap(plain).map { .token($0) } ?? .foreign
    }

    /// Whether this looks like a signed JWT in compact form, of whichever program: `{"` in base64url and two dots.
    static func isCompactJWS(_ bytes: [UInt8]) -> Bool {
        bytes.starts(with: Array("eyJ".utf8)) && plain(bytes) != nil && bytes.count { $0 == UInt8(ascii: ".") } == 2
    }

    /// Whether this looks like a client secret in whatever state, such as one that Apple refuses, and not like the token that
    /// another issuer has signed for another purpose.
    static func isClientSecret(_ bytes: [UInt8]) -> Bool {
        guard isCompactJWS(bytes) else { return false }
        // What a damaged token was cannot be known.
        guard let stated = (try? CompactJWS(bytes))?.stated else { return true }
        return stated.issuer.value.flatMap { TeamID($0) } != nil
            || stated.audience.value?.contains { $0.contains("appleid.apple.com") } == true
    }

    /// Without the blanks around it.
    static func trimmed(_ bytes: [UInt8]) -> [UInt8] { Array(bytes.trimming(while: \.isASCIISpace)) }
}
