import Linux

/// The user of a writer in the account database. A process keeps the user and the groups of its start, so a writer to which
/// requests keep coming would never get those that its user has now.
struct WriterAccount {
    enum Entry: Hashable, Sendable {
        /// The database has no such user.
        case missing
        case user(id: UInt32, groups: Set<UInt32>)
    }

    private let now: () -> Entry?
    private let atStart: Entry?

    /// - Parameter now: the entry now; nil if the database cannot be queried.
    init(_ now: @escaping () -> Entry?) {
        self.now = now
        atStart = now()
    }

    /// The account that this number has now. One without a name never changes.
    init(of user: UInt32) {
        let name = (try? Accounts.user(id: user))?.name
        self.init { name.flatMap { Self.entry(of: $0) } }
    }

    private static func entry(of name: String) -> Entry? {
        do {
            guard let account = try Accounts.user(named: name) else { return .missing }
            return Accounts.groups(of: account).map { .user(id: account.id, groups: $0) }
        } catch {
            return nil
        }
    }

    /// Whether a process that systemd starts now gets another user or other groups than at the start of this one.
    var hasChanged: Bool {
        guard let atStart, let entry = now() else { return false }
        return entry != atStart
    }
}
