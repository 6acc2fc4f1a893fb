/// How long one member of etcd has, how long there is a pause after a failure, and how long a member is used, in milliseconds.
package enum EtcdTimeouts {
    /// For a connection.
    package static let connection = 3_000
    /// For a request, connecting included.
    static let request = 3_000
    /// For a login: etcd hashes the password, which costs a tenth of a second, and logins queue there.
    static let login = 60_000

    /// For the first attempt to have all keys watched: connecting and creating the watches takes some tens. Each further attempt has
    /// twice as long, up to ``longestWatch``.
    package static let firstWatch: Int64 = 5_000
    package static let longestWatch: Int64 = 60_000

    /// After this time another member is used.
    static let memberChange: Int64 = 3_600_000

    /// The bounds of the pauses after a failure, which double.
    static let firstPause: Int64 = 1_000
    static let longestPause: Int64 = 300_000
    /// A login that was not answered has kept a member busy for a minute already.
    static let firstLoginPause: Int64 = 10_000
    static let longestLoginPause: Int64 = 3_600_000
}
