/// How long a secret is valid from the moment it is minted.
public struct Lifetime: Hashable, Comparable, Sendable {
    /// The shortest lifetime that is minted: renewals of one client are at least a minute apart.
    public static let minimum: Seconds = 60

    /// Apple accepts an `exp` at most 15,777,000 s ahead of its own clock (about six months).
    public static let appleLimit: Seconds = 15_777_000

    /// The longest lifetime that is minted: Apple's limit less 300 s, because Apple would refuse the full limit from a
    /// machine whose clock runs fast.
    public static let maximum = Lifetime(appleLimit - 300)

    /// The span; from ``minimum`` to ``maximum``.
    public let seconds: Seconds

    /// A lifetime of `seconds`; nil below ``minimum`` and above ``maximum``.
    public init?(seconds: Seconds) {
        guard seconds >= Self.minimum, seconds <= Self.maximum.seconds else { return nil }
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
