import AppleClientSecret

/// A host, and perhaps a port, as the field Host and an absolute target write them (RFC 3986, section 3.2). It is not empty and
/// has no user information, because an `http` address may not have those (RFC 9110, section 4.2).
struct RequestAuthority: Hashable {
    /// In lower case; an IPv6 address is in brackets.
    let host: String

    init?(_ text: some BidirectionalCollection<UInt8>) {
        let hostEnd: Int
        let bytes = Array(text)
        if bytes.first == UInt8(ascii: "[") {
            guard let close = bytes.firstIndex(of: UInt8(ascii: "]")),
                WebAddress.isIPv6(String(decoding: bytes[1..<close], as: UTF8.self)[...])
            else { return nil }
            hostEnd = close + 1
        } else {
            hostEnd = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.count
            // With a comma it may be a list of hosts to another program.
            guard hostEnd > 0, RequestSyntax.isURI(bytes[..<hostEnd], or: ""), !bytes.contains(UInt8(ascii: ","))
            else { return nil }
        }
        if hostEnd < bytes.count {
            let port = bytes[(hostEnd + 1)...]
            guard bytes[hostEnd] == UInt8(ascii: ":"), port.allSatisfy(\.isASCIIDigit),
                port.isEmpty || UInt16(String(decoding: port, as: UTF8.self)) != nil
            else { return nil }
        }
        host = PercentCoding.reduced(bytes[..<hostEnd]).lowercased()
    }

    /// Whether it names this machine. A page whose own name points here (DNS rebinding) sends that name instead.
    var isLoopback: Bool { WebAddress.isLoopback(host) }
}
