import AppleClientSecret

/// The characters and the small grammars that requests are made of (RFC 9110, section 5.6; RFC 3986).
enum RequestSyntax {
    private static let marks = Set("!#$%&'*+-.^_`|~".utf8)
    private static let delimiters = Set("!$&'()*+,;=".utf8)

    /// `tchar`: methods, field names and list members consist of these.
    static func isToken(_ text: some Collection<UInt8>) -> Bool {
        !text.isEmpty && text.allSatisfy { byte in byte.isASCIIAlphanumeric || marks.contains(byte) }
    }

    /// The members of a list in lower case; empty ones do not count.
    static func members(_ values: [String]) -> [String] {
        values.flatMap { $0.utf8.split(separator: UInt8(ascii: ",")) }.map { $0.trimming(while: \.isASCIIBlank) }
            .filter { !$0.isEmpty }
            .map { String(decoding: $0, as: UTF8.self).lowercased() }
    }

    /// The text with each unreserved character as itself, which means the same as percent-encoded (RFC 3986, section
    /// 6.2.2.2).
    static func normalized(_ text: some Collection<UInt8>) -> [UInt8] {
        var plain: [UInt8] = []
        var rest = text[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2)
            if byte == UInt8(ascii: "%"), digits.count == 2,
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16), value.isUnreserved
            {
                plain.append(value)
                rest = rest.dropFirst(2)
            } else {
                plain.append(byte)
            }
        }
        return plain
    }

    /// Whether all of it is unreserved, a delimiter, percent-encoded or one of `more`.
    static func isURI(_ text: some Collection<UInt8>, or more: String) -> Bool {
        var index = text.startIndex
        while index < text.endIndex {
            let byte = text[index]
            if byte == UInt8(ascii: "%") {
                let digits = text[index...].dropFirst().prefix(2)
                guard digits.count == 2, digits.allSatisfy({ Hex.value(of: $0) != nil }) else { return false }
                index = digits.endIndex
                continue
            }
            guard byte.isUnreserved || delimiters.contains(byte) || more.utf8.contains(byte) else {
                return false
            }
            text.formIndex(after: &index)
        }
        return true
    }
}

/// A host, and perhaps a port, as the field Host and an absolute target write them (RFC 3986, section 3.2): not empty, and
/// without user information, neither of which an `http` address may have (RFC 9110, section 4.2).
struct Authority: Hashable {
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
        host = String(decoding: RequestSyntax.normalized(bytes[..<hostEnd]), as: UTF8.self).lowercased()
    }

    /// Whether it names this machine. A page whose own name was made to point here (DNS rebinding) sends that name instead.
    var isLoopback: Bool { WebAddress.isLoopback(host) }
}
