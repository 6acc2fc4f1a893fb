import AppleClientSecret
import Model

/// A lifetime as the user wrote it. The maximum depends on the kind of the client's tokens.
struct WrittenLifetime {
    let text: String
    /// Nil for `max`.
    let span: Seconds?

    /// The longest one is another one for each kind: ``lifetime(of:)``.
    static func read(_ text: String) throws(ValueError) -> WrittenLifetime {
        if text == "max" { return WrittenLifetime(text: text, span: nil) }
        if text.lowercased() == "max" { throw ValueError("\(quoted(text)) is not a duration; did you mean \"max\"?") }
        let span = try Scalar.duration(text, examples: "90d, 12h, 1d12h or max", in: Lifetime.minimum...Seconds(.max))
        return WrittenLifetime(text: text, span: span)
    }

    func lifetime(of kind: TokenKind) throws(ValueError) -> Lifetime {
        guard let span else { return .longest(of: kind) }
        if let lifetime = Lifetime(seconds: span, of: kind) { return lifetime }
        let who = kind.rules.limit == nil ? "is minted" : "Apple accepts"
        throw ValueError(
            "\(quoted(text)) is longer than \(who); write \(DurationText.text(kind.rules.longest)) or less, or max")
    }
}
