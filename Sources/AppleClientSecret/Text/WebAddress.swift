/// The address of a server to which secrets may be sent (RFC 3986, section 3).
///
/// The rules are:
/// - `https`, or `http` if the host is this machine itself (``isLoopback(_:)``).
/// - The host is a name of letters, digits, `-` and `.` (other scripts as `xn--…`), or an address. That is IPv4, or IPv6 in
///   brackets, without a zone. A port is one from 1 to 65535.
/// - No user information and no fragment, and a query only if it is asked for.
/// - At most 2,048 bytes, and no characters that no address has.
package struct WebAddress: Hashable, Sendable, CustomStringConvertible {
    package enum Scheme: String, Sendable {
        case http
        case https
    }

    package let scheme: Scheme
    /// In small letters; a number of IPv6 in brackets.
    package private(set) var host: String
    /// Nil if none is written.
    package let port: UInt16?
    /// The text after host and port: nothing, or a path and a query.
    package let path: String
    /// The address as it was written, the scheme in small letters.
    package let description: String

    /// The address written in `text`; nil for any other text.
    package init?(_ text: String, allowingQuery: Bool = false) {
        guard text.utf8.count <= 2_048, let separator = text.firstRange(of: "://"),
            let scheme = Scheme(rawValue: text[..<separator.lowerBound].lowercased())
        else { return nil }
        let rest = text[separator.upperBound...]
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        let path = rest[authority.endIndex...]
        let marks = "/-._~%!$'()*+,;=:@" + (allowingQuery ? "?&" : "")
        guard let (host, port) = Self.parts(of: authority),
            path.utf8.allSatisfy({ $0.isASCIIAlphanumeric || marks.utf8.contains($0) }),
            scheme == .https || Self.isLoopback(host)
        else { return nil }
        self.scheme = scheme
        self.host = host
        self.port = port
        self.path = String(path)
        description = scheme.rawValue + "://" + rest
    }

    /// Whether the host is this machine: such a request takes no proxy.
    package var isLoopback: Bool { Self.isLoopback(host) }

    /// Scheme, host and port, the same text for the same server: without the scheme's own port.
    package var origin: String {
        let own: UInt16 = scheme == .https ? 443 : 80
        return scheme.rawValue + "://" + host + (port.flatMap { $0 == own ? nil : ":\($0)" } ?? "")
    }

    /// The same text for all addresses of one place, only to compare them by: another name of this machine, or the scheme's
    /// default port, makes no other place.
    package var identity: String {
        var address = self
        if ["127.0.0.1", "[::1]"].contains(host) { address.host = "localhost" }
        return address.origin + path
    }

    private static func parts(of authority: Substring) -> (host: String, port: UInt16?)? {
        var host = authority
        var port: UInt16?
        if let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]") {
            host = authority[..<colon]
            let digits = authority[authority.index(after: colon)...]
            guard digits.utf8.allSatisfy(\.isASCIIDigit), let number = UInt16(digits), number > 0 else { return nil }
            port = number
        }
        let isNumber = host.hasPrefix("[") && host.hasSuffix("]") && isIPv6(host.dropFirst().dropLast())
        // Lowered after it was checked: other letters than ASCII's become some of ASCII.
        return isNumber || isName(host) ? (host.lowercased(), port) : nil
    }
}

// MARK: Hosts

extension WebAddress {
    /// Whether a host is this machine itself: `localhost`, 127.0.0.0/8 or `[::1]`. A name such as 127.example.org only begins
    /// like a number.
    ///
    /// - Parameter host: in small letters, IPv6 in brackets.
    package static func isLoopback(_ host: String) -> Bool {
        if host.hasPrefix("[") { return groups(ofIPv6: host.dropFirst().dropLast()) == [0, 0, 0, 0, 0, 0, 0, 1] }
        return host == "localhost" || octets(ofIPv4: host[...])?.first == 127
    }

    /// Whether `text` is a number of IPv6, without brackets and zone (RFC 4291, section 2.2).
    package static func isIPv6(_ text: Substring) -> Bool { groups(ofIPv6: text) != nil }

    /// The limits are those of RFC 1035, section 2.3.4. A dot at the end says that the name is whole.
    private static func isName(_ text: Substring) -> Bool {
        let name = text.hasSuffix(".") ? text.dropLast() : text
        return name.utf8.count <= 253
            && name.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
                (1...63).contains(label.utf8.count)
                    && label.utf8.allSatisfy { $0.isASCIIAlphanumeric || $0 == UInt8(ascii: "-") }
            }
    }

    /// Refuses leading zeros, which some readers take as octal.
    private static func octets(ofIPv4 text: Substring) -> [UInt8]? {
        let octets = text.split(separator: ".", omittingEmptySubsequences: false).compactMap { word in
            word.utf8.allSatisfy(\.isASCIIDigit) && (word == "0" || !word.hasPrefix("0")) ? UInt8(word) : nil
        }
        return octets.count == 4 && text.utf8.count { $0 == UInt8(ascii: ".") } == 3 ? octets : nil
    }

    private static func groups(ofIPv6 text: Substring) -> [UInt16]? {
        var text = text
        // The last two groups may be written as IPv4.
        if text.contains("."), let colon = text.lastIndex(of: ":") {
            guard let octets = octets(ofIPv4: text[text.index(after: colon)...]) else { return nil }
            text = text[...colon] + "\(Hex.encode(octets[..<2])):\(Hex.encode(octets[2...]))"
        }
        let parts = text.split(separator: "::", maxSplits: 1, omittingEmptySubsequences: false).map { part in
            part.isEmpty
                ? []
                : part.split(separator: ":", omittingEmptySubsequences: false).map { word in
                    word.utf8.count <= 4 && word.utf8.allSatisfy { Hex.value(of: $0) != nil }
                        ? UInt16(word, radix: 16) : nil
                }
        }
        let groups = parts.joined().compactMap { $0 }
        guard groups.count == parts.joined().count, parts.count == 2 ? groups.count < 8 : groups.count == 8 else {
            return nil
        }
        return groups.prefix(parts[0].count) + [UInt16](repeating: 0, count: 8 - groups.count)
            + groups.dropFirst(parts[0].count)
    }
}
