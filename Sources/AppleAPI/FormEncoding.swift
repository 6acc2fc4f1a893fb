internal import AppleClientSecret

/// `application/x-www-form-urlencoded`, as RFC 6749, appendix B, uses it in requests and redirects.
package enum FormEncoding {
    /// One name with its value.
    package typealias Field = (name: String, value: String)

    /// The fields in their order. A space becomes `%20`, which every reader takes alike in a query and in a body.
    package static func encode(_ fields: [Field]) -> String {
        fields.map { encoded($0.name) + "=" + encoded($0.value) }.joined(separator: "&")
    }

    /// The fields of a query or a body; nil for a `%` without two hexadecimal digits or for bytes that are not UTF-8. Also nil if
    /// a name occurs twice, which RFC 6749, section 3.1, forbids.
    package static func decode(_ text: some StringProtocol) -> [String: String]? {
        var fields: [String: String] = [:]
        for pair in text.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = decoded(parts[0]), let value = decoded(parts.count > 1 ? parts[1] : ""),
                fields.updateValue(value, forKey: name) == nil
            else { return nil }
        }
        return fields
    }

    /// Form encoding does not spare `~`, as addresses do.
    private static func encoded(_ text: String) -> String {
        PercentCoding.encode(text) { $0.isUnreserved && $0 != UInt8(ascii: "~") }
    }

    private static func decoded(_ text: some StringProtocol) -> String? {
        PercentCoding.decode(text.utf8.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 })
    }
}
