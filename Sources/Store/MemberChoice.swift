/// Which member of the store requests go to, its login token, and for how long no request is sent after a failure.
///
/// The rules are:
/// - Requests go to one member for as long as it answers, because a login costs it a tenth of a second. The first member is
///   chosen at random, so that the machines spread over the members.
/// - After a failure that may be this member's own, the next member is tried, and the login token is dropped. After the restore
///   of a backup, etcd does not answer requests with an earlier token at all.
/// - Once all have failed there is a pause: random, from nothing to a bound that doubles to five minutes ("full
///   jitter"). A failed login has one of its own after each attempt, to an hour.
/// - Each hour requests go to the next member, so that one that has fallen behind unnoticed is not used for ever.
/// - All these times are in ``EtcdTimeouts``.
struct MemberChoice: Sendable {
    let count: Int
    /// The member that requests go to.
    private(set) var current: Int
    /// The token of the login at ``current``; nil without one.
    private(set) var token: String?
    /// When ``current`` was chosen, in milliseconds since boot.
    private var chosenAt: Int64
    /// Members that failed since the last pause or success.
    private var failed = 0
    /// Pauses since the last success.
    private var rounds = 0
    /// Logins that failed since the last one that succeeded.
    private var failedLogins = 0
    /// No request is sent before.
    private var notBefore: Int64 = 0

    /// - Parameters:
    ///   - count: how many members there are; at least one.
    ///   - random: a random number below its argument.
    init(count: Int, at now: Int64, random: (Int64) -> Int64) {
        self.count = count
        current = Int(random(Int64(count)))
        // Random, so that machines that were started together do not change members together.
        chosenAt = now - random(EtcdTimeouts.memberChange)
    }

    /// For how many milliseconds no request is sent.
    func pause(at now: Int64) -> Int64 { max(0, notBefore - now) }

    /// Changes to the next member when this one was used for an hour.
    mutating func begin(at now: Int64) {
        if now - chosenAt >= EtcdTimeouts.memberChange { change(at: now) }
    }

    mutating func loggedIn(_ token: String) {
        self.token = token
        failedLogins = 0
    }

    /// etcd no longer knows the login.
    mutating func forgetLogin() { token = nil }

    mutating func succeeded() {
        failed = 0
        rounds = 0
    }

    /// This member failed, and another one may answer. Returns whether to try that one now.
    mutating func memberFailed(at now: Int64, random: (Int64) -> Int64) -> Bool {
        change(at: now)
        failed += 1
        guard failed >= count else { return true }
        refused(at: now, random: random)
        return false
    }

    /// The request failed, and would at every member.
    mutating func refused(at now: Int64, random: (Int64) -> Int64) {
        failed = 0
        wait(Self.bound(EtcdTimeouts.firstPause, rounds, EtcdTimeouts.longestPause), at: now, random)
        rounds += 1
    }

    /// A login was refused, or not answered.
    mutating func loginFailed(at now: Int64, random: (Int64) -> Int64) {
        change(at: now)
        failed = 0
        wait(Self.bound(EtcdTimeouts.firstLoginPause, failedLogins, EtcdTimeouts.longestLoginPause), at: now, random)
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
