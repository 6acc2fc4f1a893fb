import AppleClientSecret
import Model

/// A lifetime as the user wrote it. The maximum depends on the kind of the client's tokens.
struct WrittenLifetime {
    let text: String
    /// Nil for `max`.
    let span: Seconds?

    func lifetime(of kind: TokenKind) throws(ValueError) -> Lifetime {
        guard let span else { return .longest(of: kind) }
        if let lifetime = Lifetime(seconds: span, of: kind) { return lifetime }
        let who = kind.rules.limit == nil ? "is minted" : "Apple accepts"
        throw ValueError(
            "\(quoted(text)) is longer than \(who); write \(DurationText.text(kind.rules.longest)) or less, or max")
    }
}
