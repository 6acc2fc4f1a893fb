/// How long the daemon waits for its services with a network, in milliseconds, from the connection to the end of the answer.
///
/// Tests make them shorter.
enum ServiceTimeouts {
    /// The verifier gives up 30 s after the request, and is started for it.
    static let verdict: Int64 = 45_000
    /// A service that pushes gives up 60 s after the request, and is started for it.
    static let push: Int64 = 75_000
    /// A login to the store may take a minute, and a request a few seconds for each member.
    static let store: Int64 = 90_000
    /// How long a read of secrets waits for the current request: longer than all members of the store take to answer.
    static let storeRead: Int64 = 30_000
}
