import AppleClientSecret

/// The characters and the small grammars of requests (RFC 9110, section 5.6; RFC 3986).
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
