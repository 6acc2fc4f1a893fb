/// How long Apple and the APIs of targets have, in milliseconds; those of the store are in `EtcdTimeouts`.
enum HTTPTimeouts {
    /// For a connection.
    static let connection = 10_000
    /// For a request, connecting included.
    static let request = 30_000
    /// What the command line may set.
    static let allowed = 1...600_000
}
