import Linux

/// The socket that a client connected to, which decides what it may request.
enum ListenerKind: Hashable, Sendable {
    /// The status socket, where the kernel reports the client's user and groups.
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

    /// Whether a request's Host is a loopback name. A page whose own name was made to point here (DNS rebinding) sends
    /// that name instead.
    ///
    /// - Parameter host: has to be exactly `host [ ":" port ]` of RFC 3986, section 3.2.
    static func isLoopback(host: String) -> Bool {
        let localIPv6 = "[::1]"
        let name = host.hasPrefix("[") ? host.prefix(localIPv6.count) : host.prefix { $0 != ":" }
        let rest = host.dropFirst(name.count)
        guard rest.isEmpty || rest.first == ":" && rest.dropFirst().allSatisfy(isDigit) else { return false }
        if name.lowercased() == "localhost" || name == localIPv6 { return true }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy(isDecimalOctet)
    }

    private static func isDigit(_ character: Character) -> Bool {
        character.isASCII && character.isNumber
    }

    /// Refuses leading zeros, which some parsers read as octal.
    private static func isDecimalOctet(_ text: Substring) -> Bool {
        text.allSatisfy(isDigit) && UInt8(text) != nil && (text.count == 1 || text.first != "0")
    }
}
