import AppleClientSecret

/// How long to wait after a change notice before a file is read or written: until no notice came for `quiet`, because a program
/// may still be writing, or notices came for `longest`.
struct QuietPeriod {
    let quiet: Seconds
    let longest: Seconds

    /// Of keys, sources and the configuration. The quiet period is short because reading them while they are being written
    /// overwrites no data; a directory that is never quiet costs at most one read a second.
    static let input = QuietPeriod(quiet: 1, longest: 3)
    /// Of outputs that are read, or get a new secret.
    static let output = QuietPeriod(quiet: 2, longest: 3)
    /// Of outputs that are repaired: another program may be about to write the rest of its own content.
    static let repair = QuietPeriod(quiet: 2, longest: 10)
}
