import AppleClientSecret

/// Changes one member of a JSON text and keeps every other byte of it: numbers, order and escapes that others have
/// written there survive.
package enum JSONEdit {
    /// `object` with its member `name` set to `value`, both JSON; nil if `object` is none.
    static func setting(_ name: String, to value: [UInt8], in object: [UInt8]) -> [UInt8]? {
        guard case .object(let members)? = try? JSONValue(object) else { return nil }
        if let place = JSONValue.range(of: [name], in: object) {
            return Array(object[..<place.lowerBound]) + value + object[place.upperBound...]
        }
        guard let end = object.lastIndex(of: UInt8(ascii: "}")) else { return nil }
        let comma = members.isEmpty ? "" : ","
        return Array(object[..<end]) + comma.utf8 + JSONText.string(name).bytes + ":".utf8 + value + object[end...]
    }

    /// The names in a JSON pointer (RFC 6901), such as `/data/client_secret`; nil for any other text.
    package static func pointer(_ text: String) -> [String]? {
        guard !text.isEmpty else { return [] }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        let escapes = text.split(separator: "~", omittingEmptySubsequences: false).dropFirst()
        guard parts[0].isEmpty, escapes.allSatisfy({ $0.hasPrefix("0") || $0.hasPrefix("1") }) else { return nil }
        return parts.dropFirst().map { String($0).replacing("~1", with: "/").replacing("~0", with: "~") }
    }
}

extension JSONValue {
    /// The value at these names, an array's elements counted from 0. An array of one thing counts as that thing where a name is no
    /// number, because some APIs answer so.
    subscript(pointer: [String]) -> JSONValue? {
        pointer.reduce(Optional(self)) { value, name in
            guard let elements = value?.elements else { return value?[name] }
            guard let index = name.elementIndex else { return elements.count == 1 ? elements[0][name] : nil }
            return elements.indices.contains(index) ? elements[index] : nil
        }
    }
}

extension String {
    /// The index of an array's element that this name in a JSON pointer may be: a number without sign and leading zeros.
    var elementIndex: Int? { Int(self).flatMap { $0 >= 0 && String($0) == self ? $0 : nil } }
}
