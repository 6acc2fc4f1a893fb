import Linux

/// The socket that a client connected to, which decides about its possible requests.
enum ListenerKind: Hashable, Sendable {
    /// The status socket, on which the kernel reports the client's user and groups.
    case status(Peer)
    /// The metrics socket: any process on this machine may connect, even a page in a browser, so it changes nothing and
    /// shows little.
    case metrics

    /// The user whose connections are counted; nil on the metrics socket, which has no peer credentials.
    var user: UInt32? {
        switch self {
        case .status(let peer): peer.user
        case .metrics: nil
        }
    }
}
