/// How long a secret is valid from the moment it is minted.
public struct Lifetime: Hashable, Comparable, Sendable {
    /// The longest lifetime of a new client secret of Sign in with Apple. It is 300 s below Apple's limit, because Apple would
    /// refuse the full limit if the machine's clock runs fast.
    public static let maximum = longest(of: .signIn)

    /// 90 days, for every kind: the default lifetime.
    package static let standard = Lifetime(7_776_000)

    /// The longest lifetime of a token of this kind that is minted.
    public static func longest(of kind: TokenKind) -> Lifetime { Lifetime(kind.rules.longest) }

    /// The span; at least ``minimum``.
    public let seconds: Seconds

    /// A lifetime of `seconds`; nil below ``minimum`` and above the longest one of the kind.
    public init?(seconds: Seconds, of kind: TokenKind = .signIn) {
        guard seconds >= Self.minimum, seconds <= kind.rules.longest else { return nil }
        self.init(seconds)
    }

    private init(_ seconds: Seconds) {
        self.seconds = seconds
    }

    /// Whether the left lifetime is the shorter one.
    public static func < (left: Lifetime, right: Lifetime) -> Bool {
        left.seconds < right.seconds
    }
}
