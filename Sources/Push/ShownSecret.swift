import AppleClientSecret
import Failures
import Formats

extension PushKind {
    /// The state of the secret's place, as an answer shows it.
    indirect enum ShownSecret: Equatable, Sendable {
        case same
        case another(PushPlaceContent)
        /// The place holds nothing.
        case empty
        /// The place holds something that is never shown.
        case hidden
        /// Whether the place holds anything is not shown.
        case unknown
        /// A digest that is computed in an unknown way.
        case digest(String)
        /// This is there, and is not written over, because of the failure.
        case unwritable(ShownSecret, RoleFailure)

        /// The meaning of a text in the secret's place; nil if there is none.
        init(_ text: String?, expected: String) {
            guard let text, !text.isEmpty else {
                self = .empty
                return
            }
            self = text == expected ? .same : ShownSecret.another(PushPlaceContent(text)).guarding(text)
        }

        /// The same, unless the text is a private key, because a `.p8` can be downloaded only once, or holds more than a secret.
        /// Every kind judges the text that its API shows, also where that text usually says nothing about the secret.
        func guarding(_ text: String?) -> ShownSecret {
            guard let text else { return self }
            let bytes = Array(text.utf8)
            let words: String
            if PrivateKeyText.isIn(bytes) {
                words = "it holds a private key, which is never overwritten"
            } else if FormatRegistry.hasTextBeforeSecret(bytes) {
                words = "it holds more than a client secret, and the rest would be lost"
            } else {
                return self
            }
            return .unwritable(.another(.unusable), RoleFailure(.pushPlaceUnsuitable, words))
        }

        /// The meaning of a member of a document; a value that is no text does not count as absent.
        init(_ value: JSONValue?, expected: String) {
            switch value {
            case .string(let text): self.init(text, expected: expected)
            case .null, nil: self = .empty
            default: self = .another(.unusable)
            }
        }

        /// Whether the place holds the secret; nil if that is not known.
        var holds: Bool? {
            switch self {
            case .same: true
            case .another, .empty: false
            case .hidden, .unknown, .digest: nil
            case .unwritable(let shown, _): shown.holds
            }
        }

        /// The content of the place instead of the secret; nil if that is not known.
        var content: PushPlaceContent? {
            switch self {
            case .same, .unknown: nil
            case .another(let content): content
            case .empty: .nothing
            case .hidden, .digest: .something
            case .unwritable(let shown, _): shown.content
            }
        }
    }

    /// The secret itself at a JSON pointer.
    static func shown(
        at pointer: [String], isBase64: Bool = false
    ) -> Look {
        { exchange, answer in
            let value = exchange.json(answer)?[pointer.map(exchange.filled)]
            let decoded = isBase64 ? value?.text.flatMap { Base64.decode($0) } : nil
            // A key in DER is no text, and is recognised in base64 only.
            return ShownSecret(
                decoded.map { JSONValue.string(String(decoding: $0, as: UTF8.self)) } ?? value,
                expected: exchange.secretText
            ).guarding(value?.text)
        }
    }
}

extension PushPlaceContent {
    /// The kind of text in the place of a client secret, by the judgement of its form.
    fileprivate init(_ text: String) {
        let token = text.trimming(while: \.isWhitespace)
        let form = (try? CompactJWS(Array(token.utf8)))?.form
        self = form.map { .secret(expiresAt: $0.claims.expiresAt) } ?? .unusable
    }
}
