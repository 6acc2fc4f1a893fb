import AppleClientSecret

/// Changes one member of a JSON text and leaves every other byte of it alone: numbers, order and escapes that others have
/// written there survive.
enum JSONEdit {
    /// Where the value at `pointer` stands in `bytes`; nil where there is none.
    ///
    /// - Parameter bytes: a JSON text that ``JSONValue`` has read.
    static func span(of pointer: [String], in bytes: [UInt8]) -> Range<Int>? {
        var scanner = Scanner(bytes: bytes)
        for name in pointer {
            guard scanner.enter(name) else { return nil }
        }
        return scanner.skipValue()
    }

    /// `object` with its member `name` set to `value`, both JSON; nil where `object` is none.
    static func setting(_ name: String, to value: [UInt8], in object: [UInt8]) -> [UInt8]? {
        guard case .object(let members)? = try? JSONValue(object, duplicates: .refused) else { return nil }
        if let place = span(of: [name], in: object) {
            return Array(object[..<place.lowerBound]) + value + object[place.upperBound...]
        }
        guard let end = object.lastIndex(of: UInt8(ascii: "}")) else { return nil }
        let comma = members.isEmpty ? "" : ","
        return Array(object[..<end]) + comma.utf8 + JSONText.string(name).bytes + ":".utf8 + value + object[end...]
    }

    /// The names in a JSON pointer (RFC 6901), `/a/b`; nil for any other text.
    static func pointer(_ text: String) -> [String]? {
        guard !text.isEmpty else { return [] }
        guard text.hasPrefix("/") else { return nil }
        var names: [String] = []
        for part in text.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
            var name = ""
            var rest = part[...]
            while let character = rest.popFirst() {
                guard character == "~" else {
                    name.append(character)
                    continue
                }
                switch rest.popFirst() {
                case "0": name += "~"
                case "1": name += "/"
                default: return nil
                }
            }
            names.append(name)
        }
        return names
    }

    private struct Scanner {
        let bytes: [UInt8]
        var position = 0

        private mutating func skipBlanks() {
            while position < bytes.count, [0x20, 0x0A, 0x0D, 0x09].contains(bytes[position]) { position += 1 }
        }

        /// Moves to the member or element `name` of the value here.
        mutating func enter(_ name: String) -> Bool {
            skipBlanks()
            guard position < bytes.count else { return false }
            let isObject = bytes[position] == UInt8(ascii: "{")
            guard isObject || bytes[position] == UInt8(ascii: "[") else { return false }
            position += 1
            var index = 0
            while true {
                skipBlanks()
                guard position < bytes.count, bytes[position] != UInt8(ascii: "}"), bytes[position] != UInt8(ascii: "]")
                else { return false }
                var isIt = String(index) == name
                if isObject {
                    guard let place = skipValue() else { return false }
                    isIt = (try? JSONValue(Array(bytes[place]), duplicates: .refused))?.text == name
                    skipBlanks()
                    position += 1
                }
                if isIt { return true }
                guard skipValue() != nil else { return false }
                skipBlanks()
                if position < bytes.count, bytes[position] == UInt8(ascii: ",") { position += 1 }
                index += 1
            }
        }

        /// Moves behind the value here; returns where it stands.
        mutating func skipValue() -> Range<Int>? {
            skipBlanks()
            let start = position
            var depth = 0
            var isText = false
            while position < bytes.count {
                let byte = bytes[position]
                if isText {
                    if byte == UInt8(ascii: "\\") { position += 1 }
                    if byte == UInt8(ascii: "\"") { isText = false }
                } else {
                    switch byte {
                    case UInt8(ascii: "\""): isText = true
                    case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
                    case UInt8(ascii: "}"), UInt8(ascii: "]"), UInt8(ascii: ","), UInt8(ascii: ":"), 0x20, 0x0A, 0x0D,
                        0x09:
                        // Behind a number or a word, which have no end of their own.
                        if depth == 0 { return position > start ? start..<position : nil }
                        if byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]") { depth -= 1 }
                    default: break
                    }
                }
                position += 1
                if depth == 0, !isText, [UInt8(ascii: "\""), UInt8(ascii: "}"), UInt8(ascii: "]")].contains(byte) {
                    return start..<position
                }
            }
            return position > start ? start..<position : nil
        }
    }
}

extension JSONValue {
    /// The value at these names, an array's elements counted from 0.
    subscript(pointer: [String]) -> JSONValue? {
        pointer.reduce(Optional(self)) { value, name in
            if let elements = value?.elements {
                return Int(name).flatMap { elements.indices.contains($0) ? elements[$0] : nil }
            }
            return value?[name]
        }
    }
}

extension PushKind {
    /// The names in a JSON pointer (RFC 6901), such as `/data/client_secret`; nil for any other text.
    package static func pointer(_ text: String) -> [String]? { JSONEdit.pointer(text) }
}
