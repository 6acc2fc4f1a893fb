import Linux

/// By which socket a visitor came in, and so what there is to be had.
enum Door: Hashable, Sendable {
    /// The status socket, where the kernel says who it is.
    case status(Peer)
    /// The one for monitoring: it may be anybody on this machine, a page in a browser included, so there is nothing to be
    /// done here and little to see.
    case metrics

    /// By whom connections are counted.
    var user: UInt32 {
        switch self {
        case .status(let peer): peer.user
        // No user has it (setreuid(2)).
        case .metrics: .max
        }
    }

    /// Whether a request names this machine by a loopback name: a page whose own name was made to point here does not
    /// (DNS rebinding).
    static func isLoopback(host: String) -> Bool {
        let name: Substring
        if host.hasPrefix("[") {
            name = host.prefix { $0 != "]" }.dropFirst()
        } else {
            name = host.prefix { $0 != ":" }
        }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return name.lowercased() == "localhost" || name == "::1"
            || parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
}
