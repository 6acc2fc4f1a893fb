import AppleClientSecret

/// How the templates of a ``PushKind`` are filled.
enum PushTemplate {
    /// `template` with each `{{name}}` replaced by the escaped value of that name; a name without a value is empty. The
    /// character after the name, `/` or `!`, goes to `escape`.
    static func expand(
        _ template: String, _ values: [String: String], _ escape: (_ value: String, _ mark: Character?) -> String
    ) -> String {
        var result = ""
        var rest = template[...]
        while let open = rest.firstRange(of: "{{"), let close = rest[open.upperBound...].firstRange(of: "}}") {
            result += rest[..<open.lowerBound]
            var name = rest[open.upperBound..<close.lowerBound]
            var mark: Character?
            if let last = name.last, last == "/" || last == "!" {
                mark = last
                name = name.dropLast()
            }
            result += escape(values[String(name), default: ""], mark)
            rest = rest[close.upperBound...]
        }
        return result + rest
    }

    /// For a path or a query: percent-encoded, but for slashes with the mark `/`.
    static func percentEncoded(_ value: String, mark: Character?) -> String {
        PercentCoding.encode(value) { $0.isUnreserved || mark == "/" && $0 == UInt8(ascii: "/") }
    }

    /// For a JSON text: a string, or with the mark `!` the JSON that it is.
    static func json(_ value: String, mark: Character?) -> String {
        mark == "!" ? value : JSONText.string(value).rendered
    }
}
