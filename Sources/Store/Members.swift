/// Which member of the store is asked, whether it is logged in to, and for how long nobody is asked after a failure.
///
/// The rules are:
/// - One member is asked for as long as it answers, because a login costs it a tenth of a second; which one is chosen
///   by lot, so that many machines spread.
/// - After any failure that another member may not have, that one is next, and the login is forgotten: after a restored
///   backup a request with a former login gets no answer at all.
/// - Once all have failed there is a pause: random, from nothing to a bound that doubles to five minutes ("full
///   jitter"). A failed login has one of its own after each attempt, to an hour.
/// - Each hour another member is asked, so that one that has fallen behind unnoticed is not asked for ever.
package struct Members: Sendable {
    package let count: Int
    /// Which member is asked.
    package private(set) var current: Int
    /// The login at ``current``.
    package private(set) var token: String?
    /// When ``current`` was chosen, in milliseconds since boot.
    private var chosenAt: Int64
    /// Members that failed since the last pause or success.
    private var failed = 0
    /// Pauses since the last success.
    private var rounds = 0
    /// Logins that failed since the last one that did not.
    private var failedLogins = 0
    /// Nobody is asked before.
    private var notBefore: Int64 = 0

    /// In milliseconds.
    static let turn: Int64 = 3_600_000
    private static let longestPause: Int64 = 300_000
    private static let longestLoginPause: Int64 = 3_600_000
    private static let firstPause: Int64 = 1_000
    /// A login that nobody answers has cost the members a minute already.
    private static let firstLoginPause: Int64 = 10_000

    /// - Parameters:
    ///   - count: how many members there are; at least one.
    ///   - random: a random number below its argument.
    package init(count: Int, at now: Int64, random: (Int64) -> Int64) {
        self.count = count
        current = Int(random(Int64(count)))
        // Machines that were started together do not change together.
        chosenAt = now - random(Self.turn)
    }

    /// For how many milliseconds nobody is asked.
    package func pause(at now: Int64) -> Int64 { max(0, notBefore - now) }

    /// Goes on to another member when this one was asked for an hour.
    package mutating func begin(at now: Int64) {
        if now - chosenAt >= Self.turn { change(at: now) }
    }

    package mutating func loggedIn(_ token: String) {
        self.token = token
        failedLogins = 0
    }

    /// etcd does not know the login any more.
    package mutating func forgetLogin() { token = nil }

    package mutating func succeeded() {
        failed = 0
        rounds = 0
    }

    /// Another member may do better. Returns whether it is to be asked now.
    package mutating func memberFailed(at now: Int64, random: (Int64) -> Int64) -> Bool {
        change(at: now)
        failed += 1
        guard failed >= count else { return true }
        refused(at: now, random: random)
        return false
    }

    /// No member would do better.
    package mutating func refused(at now: Int64, random: (Int64) -> Int64) {
        failed = 0
        wait(Self.bound(Self.firstPause, rounds, Self.longestPause), at: now, random)
        rounds += 1
    }

    /// A login was refused, or not answered.
    package mutating func loginFailed(at now: Int64, random: (Int64) -> Int64) {
        change(at: now)
        failed = 0
        wait(Self.bound(Self.firstLoginPause, failedLogins, Self.longestLoginPause), at: now, random)
        failedLogins += 1
    }

    private mutating func change(at now: Int64) {
        token = nil
        current = (current + 1) % count
        chosenAt = now
    }

    private mutating func wait(_ bound: Int64, at now: Int64, _ random: (Int64) -> Int64) {
        notBefore = now + random(bound + 1)
    }

    private static func bound(_ first: Int64, _ doublings: Int, _ most: Int64) -> Int64 {
        min(most, first << Int64(min(doublings, 20)))
    }
}
