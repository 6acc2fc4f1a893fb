import AppleClientSecret

/// How small and how large the values of settings may be. Only `lifetime` has another limit for each kind of token:
/// `LifetimeLimits`.
enum SettingLimits {
    static let renewBefore: ClosedRange<Seconds> = 1...TokenKind.maps.rules.longest
    /// At most a day.
    static let deliverOver: ClosedRange<Seconds> = 0...86_400
    /// Of `timeout`. At most a day: a hook that runs longer is hanging.
    static let timeout: ClosedRange<Seconds> = 1...86_400

    /// Of `pause`. From the time over which machines spread their reports to a day.
    static let rolloutPause: ClosedRange<Seconds> = 60...86_400
    static let canaries = 1...1_000_000

    /// Of `exec`. The kernel allows 128 KiB for one argument and more in total; command lines written by hand stay far below that.
    static let mostArguments = 256
    /// In bytes, of all arguments together.
    static let longestArguments = 65_536

    /// In bytes, of a credential's name: a file's name.
    static let longestCredential = 255
    /// In bytes, of `token_credential`.
    static let longestTokenCredential = 64

    /// In bytes, of `user` and `prefix` of the store.
    static let longestStoreName = 255
    /// In bytes, of `machine`: the longest host name.
    static let longestMachine = 253
}
