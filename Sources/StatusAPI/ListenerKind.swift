import Linux

/// By which socket a visitor came in, and so what there is to be had.
enum ListenerKind: Hashable, Sendable {
    /// The status socket, where the kernel says who it is.
    case status(Peer)
    /// The one for monitoring: it may be anybody on this machine, a page in a browser included, so there is nothing to be
    /// done here and little to see.
    case metrics

    /// By whom connections are counted; nil where nobody can be told apart.
    var user: UInt32? {
        switch self {
        case .status(let peer): peer.user
        case .metrics: nil
        }
    }

    /// Whether a request names this machine by a loopback name: a page whose own name was made to point here does not
    /// (DNS rebinding).
    ///
    /// - Parameter host: what has to be `host [ ":" port ]` of RFC 3986, section 3.2, and nothing beyond it.
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

    /// Without zeros in front, which some read as octal.
    private static func isDecimalOctet(_ text: Substring) -> Bool {
        text.allSatisfy(isDigit) && UInt8(text) != nil && (text.count == 1 || text.first != "0")
    }
}
