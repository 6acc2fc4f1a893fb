/// How long Apple, the APIs of targets and this program's clients have, in milliseconds unless a comment names another unit.
/// The times of the store's members are in `EtcdTimeouts`.
enum NetworkTimeouts {
    /// For a connection.
    static let connection = 10_000
    /// For a request, connecting included.
    static let request = 30_000
    /// The range for the command line.
    static let allowed = 1...600_000
    /// For all HTTP requests of one push: less than the daemon waits.
    static let push: Int64 = 60_000

    /// For a connection to the socket that systemd has passed: the client for which systemd started this process may have gone.
    static let accepting: Int64 = 10_000
    /// For the client's request. The client has it ready when it connects, and the next client waits meanwhile.
    static let input: Int64 = 10_000

    /// After how many seconds a process that pushes is ended, because no deadline of a request covers some steps, such as reading
    /// a file. systemd or `listen` starts the next process only once this one has ended.
    static let pushProcess: UInt32 = 90
    /// The same for one request to the store, in seconds: longer than the daemon waits for an answer.
    static let storeProcess: UInt32 = 100
}
