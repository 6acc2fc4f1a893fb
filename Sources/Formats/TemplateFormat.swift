internal import AppleClientSecret
package import Model

/// `template`: a whole file that the daemon writes from a text in the configuration.
///
/// The rules:
///
/// - `{{client_secret}}` is the token, at least once; `{{client_id}}`, `{{team_id}}`, `{{key_id}}`,
///   `{{issued_at}}` and `{{expires_at}}` (RFC 3339 UTC) as often as wanted. Any other name is an error. For the kinds
///   without a client id `{{client_id}}` is empty.
/// - `{{{{` is `{{`.
/// - The file belongs to the template. It is read back by rendering it with the token that is found in it, and every byte must be
///   the same.
package struct TemplateFormat: OutputFormat {
    package static let name = "template"
    package static let setting: FormatSetting? = FormatSetting(
        name: "template", scope: .file, advice: "write the text of the file, with {{client_secret}} in it",
        check: { text, quoted in
            do throws(TemplateError) {
                _ = try pieces(of: text)
                return nil
            } catch {
                return error.words(quoted)
            }
        })
    package static let isShared = false
    package static let words = "a text of your own with the secret in it"

    enum Piece: Hashable {
        case text([UInt8])
        /// A name in double braces.
        case field(SecretField)
    }

    /// The problem with a template.
    enum TemplateError: Error, Hashable {
        case notClosed
        case unknownName(String)
        case noSecret

        func words(_ quoted: (String) -> String) -> String {
            switch self {
            case .notClosed: "a \"{{\" is not closed; write \"}}\" after the name, or \"{{{{\" for two braces"
            case .unknownName(let name):
                "\(quoted(name)) is no name for a template; write one of "
                    + SecretField.allCases.map(\.rawValue).joined(separator: ", ") + ", or \"{{{{\" for two braces"
            case .noSecret: "the template has no {{client_secret}}; write it where the secret belongs"
            }
        }
    }

    /// Nil if it is no longer known: then nothing can be written, and any token in the file counts.
    private let template: String?

    /// Far more secrets than any file holds: each is compared with the whole file.
    private static let candidateLimit = 100

    package init(parameter: String?) { template = parameter }

    package func parse(_ bytes: [UInt8], slots: some Collection<FileSlot>) throws(FormatError) -> ParsedFile {
        let pieces = try template.map(Self.checkedPieces)
        for candidate in CompactJWS.candidates(in: bytes, upTo: Token.maximumLength).prefix(Self.candidateLimit) {
            let token = Array(bytes[candidate])
            guard let claims = (try? CompactJWS(token))?.claims else { continue }
            if let pieces, Self.render(pieces, RenderedSecret(token: token, claims: claims)) != bytes { continue }
            return ParsedFile(slots: [.whole: .token(token)])
        }
        return ParsedFile(slots: bytes.allSatisfy(\.isASCIISpace) ? [:] : [.whole: .foreign])
    }

    package func mayReplace(_ bytes: [UInt8]) -> Bool {
        if TokenLikeness.trimmed(bytes).isEmpty { return true }
        guard case .token(let token)? = try? parse(bytes, slots: [.whole]).slots[.whole] else { return false }
        return TokenLikeness.isClientSecret(token)
    }

    package func render(
        _ secrets: [FileSlot: RenderedSecret], into bytes: [UInt8]
    ) throws(FormatError) -> [UInt8] {
        guard let secret = secrets[.whole], let template else { return bytes }
        return Self.render(try Self.checkedPieces(of: template), secret)
    }

    /// Nil: without its template a secret is known only by its form, and of several the one that is meant is not.
    package static func candidate(in bytes: [UInt8], at slot: FileSlot) -> SecretCandidate? { nil }

    /// The configuration is checked before: an error here means that something else has set the template.
    private static func checkedPieces(of template: String) throws(FormatError) -> [Piece] {
        do throws(TemplateError) {
            return try pieces(of: template)
        } catch {
            throw FormatError(line: 1, reason: error.words { _ in "a name" })
        }
    }

    private static func render(_ pieces: [Piece], _ secret: RenderedSecret) -> [UInt8] {
        pieces.flatMap { piece in
            switch piece {
            case .text(let bytes): bytes
            case .field(.clientSecret): secret.token
            case .field(let field): Array((field.text(of: secret.claims) ?? "").utf8)
            }
        }
    }

    /// The template taken apart.
    static func pieces(of template: String) throws(TemplateError) -> [Piece] {
        let bytes = Array(template.utf8)
        let (open, close) = (Array("{{".utf8), Array("}}".utf8))
        var pieces: [Piece] = []
        var text: [UInt8] = []
        var index = 0
        while index < bytes.count {
            guard bytes[index...].starts(with: open) else {
                text.append(bytes[index])
                index += 1
                continue
            }
            index += open.count
            if bytes[index...].starts(with: open) {
                text += open
                index += open.count
                continue
            }
            guard let end = bytes[index...].indices.first(where: { bytes[$0...].starts(with: close) }) else {
                throw .notClosed
            }
            let name = String(decoding: bytes[index..<end], as: UTF8.self)
            guard let field = SecretField(rawValue: name) else { throw .unknownName(name) }
            if !text.isEmpty { pieces.append(.text(text)) }
            text = []
            pieces.append(.field(field))
            index = end + close.count
        }
        if !text.isEmpty { pieces.append(.text(text)) }
        guard pieces.contains(.field(.clientSecret)) else { throw .noSecret }
        return pieces
    }
}
