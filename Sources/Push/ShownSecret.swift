import AppleClientSecret
import Failures
import Formats

extension PushKind {
    /// What an answer shows of the secret.
    enum ShownSecret: Equatable, Sendable {
        case same
        case another(PushPlaceContent)
        /// The place holds nothing.
        case empty
        case nothing
        /// A digest that is made in an unknown way.
        case digest(String)
        /// A `.p8` can be downloaded only once, so it is never overwritten.
        case privateKey

        /// What a text in the secret's place is; nil where there is none.
        init(_ text: String?, expected: String) {
            guard let text, !text.isEmpty else {
                self = .empty
                return
            }
            let isKey = PrivateKeyText.isIn(Array(text.utf8))
            self = text == expected ? .same : isKey ? .privateKey : .another(PushPlaceContent(text))
        }

        /// Whether the place holds the secret; nil where that is not known.
        var holds: Bool? {
            switch self {
            case .same: true
            case .another, .empty, .privateKey: false
            case .nothing, .digest: nil
            }
        }

        /// What the place holds instead of the secret; nil where that is not known.
        var content: PushPlaceContent? {
            switch self {
            case .same, .nothing: nil
            case .another(let content): content
            case .empty: .nothing
            case .digest: .something
            case .privateKey: .unusable
            }
        }
    }

    /// The secret itself at a JSON pointer.
    static func shown(
        at pointer: [String], isBase64: Bool = false
    ) -> @Sendable (PushExchange, JSONValue) -> ShownSecret {
        { exchange, answer in
            let text = answer[pointer.map(exchange.filled)]?.text
            let decoded = isBase64 ? text.flatMap { Base64.decode($0) } : nil
            return ShownSecret(
                decoded.map { String(decoding: $0, as: UTF8.self) } ?? text, expected: exchange.secretText)
        }
    }
}

extension PushPlaceContent {
    /// What a text in the place of a client secret is, by the judgement of its form.
    fileprivate init(_ text: String) {
        let token = text.trimming(while: \.isWhitespace)
        let form = (try? CompactJWS(Array(token.utf8)))?.form
        self = form.map { .secret(expiresAt: $0.claims.expiresAt) } ?? .unusable
    }
}
