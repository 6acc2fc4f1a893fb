extension Lifetime {
    /// The shortest lifetime that is minted: renewals of one client are at least a minute apart.
    public static let minimum: Seconds = 60

    /// Apple accepts an `exp` of a client secret at most 15,777,000 s ahead of its own clock (about six months).
    public static let appleLimit: Seconds = 15_777_000
}

/// The limits of the other kinds of tokens; the row of a kind says from when on one counts (``TokenKind/Rules``).
enum LifetimeLimits {
    /// How far below Apple's limit the longest lifetime is: Apple would refuse the full limit from a machine whose clock
    /// runs fast.
    static let margin: Seconds = 300

    /// Of Apple Ads: 180 days.
    static let ofAds: Seconds = 15_552_000

    /// Of Maps: 366 days. Apple names no limit, and people use a year.
    static let ofMaps: Seconds = 31_622_400
}
