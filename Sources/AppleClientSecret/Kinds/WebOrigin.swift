/// The origin of a web page as browsers send it (RFC 6454, section 6.2): `https://example.com` or `http://` with a host. A port
/// follows if it is not the scheme's default.
public struct WebOrigin: Hashable, Comparable, Sendable, LosslessStringConvertible {
    /// The longest origin that is accepted, in bytes.
    public static let maximumLength = 255
    /// The most origins that one token states.
    public static let maximumCount = 20

    /// The origin as it was written.
    public let description: String

    /// The origin written in `text`; nil for anything else, such as an address with a path or a slash at its end.
    public init?(_ text: some StringProtocol) {
        let text = String(text)
        guard text.utf8.count <= Self.maximumLength,
            let scheme = ["https://", "http://"].first(where: { text.hasPrefix($0) })
        else { return nil }
        let authority = text.utf8.dropFirst(scheme.utf8.count)
        // Any other character would need escaping in JSON, separates origins in a name, or cannot be in a host.
        guard !authority.isEmpty, authority.allSatisfy({ $0.isASCIIAlphanumeric || "-._:*[]".utf8.contains($0) })
        else { return nil }
        description = text
    }

    /// The origin of a page that browsers let use such tokens, as they send it: in small letters, and without the scheme's own
    /// port. Any other text would match no page. It is `https`, or `http` if the host is this machine; nil for anything else.
    package init?(page text: String) {
        guard WebAddress(text)?.origin == text else { return nil }
        self.init(text)
    }

    /// The same of an origin that is written in another form: with capitals, the scheme's own port or slashes at its end. Nil for
    /// anything else, such as an address with a path.
    package init?(meantBy text: String) {
        var trimmed = text[...]
        while trimmed.hasSuffix("/") { trimmed = trimmed.dropLast() }
        guard let address = WebAddress(String(trimmed)), address.path.isEmpty else { return nil }
        self.init(page: address.origin)
    }

    /// The order of their texts.
    public static func < (left: WebOrigin, right: WebOrigin) -> Bool { left.description < right.description }
}
