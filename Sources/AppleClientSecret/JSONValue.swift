/// A JSON text (RFC 8259) from a server, in a token or in the state directory.
///
/// The rules are:
/// - The text is UTF-8 without a byte-order mark, and nothing but white space follows the value.
/// - Of members with the same name the last counts, or the text is refused: two readers of one token must not see
///   different claims in it.
/// - Values are nested ``deepest`` levels at most. A caller that reads what others may have made says how many there may be:
///   a value of two bytes takes up to a hundred times as many in memory.
package enum JSONValue: Hashable, Sendable {
    case null
    case bool(Bool)
    /// A number without fraction and exponent that 64 bits hold.
    case integer(Int64)
    /// Any other number.
    case fraction(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    /// How many levels of arrays and objects are read.
    package static let deepest = 32

    /// Why bytes are no such text.
    package enum Flaw: Error, Hashable, Sendable {
        case notJSON
        /// A name occurs twice in one object.
        case duplicate(String)
    }

    /// What becomes of members with the same name.
    package enum Duplicates: Sendable {
        case lastCounts
        case refused
    }

    /// - Parameter limit: how many values there are at most, those in arrays and objects included.
    package init(_ bytes: [UInt8], duplicates: Duplicates, atMost limit: Int = .max) throws(Flaw) {
        var reader = JSONReader(bytes: bytes, duplicates: duplicates, room: limit)
        self = try reader.whole()
    }

    /// The member `name` of an object; nil where there is none, or where this is no object.
    package subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members[name]
    }

    /// The text; nil for any other value.
    package var text: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    /// The whole number; nil for any other value.
    package var whole: Int64? {
        guard case .integer(let number) = self else { return nil }
        return number
    }

    /// The elements; nil for any other value.
    package var elements: [JSONValue]? {
        guard case .array(let elements) = self else { return nil }
        return elements
    }
}

/// Reads one JSON text from its beginning to its end.
private struct JSONReader {
    let bytes: [UInt8]
    let duplicates: JSONValue.Duplicates
    /// How many more values there may be.
    var room: Int
    var position = 0

    init(bytes: [UInt8], duplicates: JSONValue.Duplicates, room: Int) {
        self.bytes = bytes
        self.duplicates = duplicates
        self.room = room
    }

    mutating func whole() throws(JSONValue.Flaw) -> JSONValue {
        let value = try value(level: 0)
        skipBlanks()
        guard position == bytes.count else { throw .notJSON }
        return value
    }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipBlanks() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        position += 1
        return true
    }

    private mutating func take(word: StaticString) -> Bool {
        let word = Array(word.description.utf8)
        guard bytes[position...].starts(with: word) else { return false }
        position += word.count
        return true
    }

    private mutating func value(level: Int) throws(JSONValue.Flaw) -> JSONValue {
        skipBlanks()
        guard level <= JSONValue.deepest, room > 0, let first = next else { throw .notJSON }
        room -= 1
        switch first {
        case UInt8(ascii: "{"): return try object(level: level)
        case UInt8(ascii: "["): return try array(level: level)
        case UInt8(ascii: "\""): return .string(try string())
        default:
            if take(word: "true") { return .bool(true) }
            if take(word: "false") { return .bool(false) }
            if take(word: "null") { return .null }
            return try number()
        }
    }

    private mutating func object(level: Int) throws(JSONValue.Flaw) -> JSONValue {
        position += 1
        var members: [String: JSONValue] = [:]
        skipBlanks()
        if take(UInt8(ascii: "}")) { return .object(members) }
        while true {
            skipBlanks()
            let name = try string()
            skipBlanks()
            guard take(UInt8(ascii: ":")) else { throw .notJSON }
            let value = try value(level: level + 1)
            let former = members.updateValue(value, forKey: name)
            if former != nil, duplicates == .refused { throw .duplicate(name) }
            skipBlanks()
            if take(UInt8(ascii: "}")) { return .object(members) }
            guard take(UInt8(ascii: ",")) else { throw .notJSON }
        }
    }

    private mutating func array(level: Int) throws(JSONValue.Flaw) -> JSONValue {
        position += 1
        var elements: [JSONValue] = []
        skipBlanks()
        if take(UInt8(ascii: "]")) { return .array(elements) }
        while true {
            elements.append(try value(level: level + 1))
            skipBlanks()
            if take(UInt8(ascii: "]")) { return .array(elements) }
            guard take(UInt8(ascii: ",")) else { throw .notJSON }
        }
    }

    private mutating func string() throws(JSONValue.Flaw) -> String {
        guard take(UInt8(ascii: "\"")) else { throw .notJSON }
        // Nearly all strings have no escapes: their bytes are taken at once.
        let start = position
        while let byte = next, byte >= 0x20, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") { position += 1 }
        var text = Array(bytes[start..<position])
        while let byte = next {
            position += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let string = String(validating: text, as: UTF8.self) else { throw .notJSON }
                return string
            case UInt8(ascii: "\\"): text += try escape().utf8
            case ..<0x20: throw .notJSON
            default: text.append(byte)
            }
        }
        throw .notJSON
    }

    /// What stands behind a backslash.
    private mutating func escape() throws(JSONValue.Flaw) -> Unicode.Scalar {
        guard let byte = next else { throw .notJSON }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): break
        default: throw .notJSON
        }
        let unit = try codeUnit()
        if let scalar = Unicode.Scalar(unit) { return scalar }
        // Half of a surrogate pair: the other half follows, or the text means nothing.
        guard (0xD800..<0xDC00).contains(unit), take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else {
            throw .notJSON
        }
        let low = try codeUnit()
        guard (0xDC00..<0xE000).contains(low) else { throw .notJSON }
        let number = 0x10000 + (UInt32(unit) - 0xD800) << 10 + (UInt32(low) - 0xDC00)
        guard let scalar = Unicode.Scalar(number) else { throw .notJSON }
        return scalar
    }

    private mutating func codeUnit() throws(JSONValue.Flaw) -> UInt16 {
        guard let unit: UInt16 = Hex.decode(bytes[position...].prefix(4), capitals: true) else { throw .notJSON }
        position += 4
        return unit
    }

    private mutating func number() throws(JSONValue.Flaw) -> JSONValue {
        let start = position
        _ = take(UInt8(ascii: "-"))
        let leadsWithZero = next == UInt8(ascii: "0")
        let digits = skipDigits()
        guard digits > 0, !(leadsWithZero && digits > 1) else { throw .notJSON }
        var isWhole = true
        if take(UInt8(ascii: ".")) {
            isWhole = false
            guard skipDigits() > 0 else { throw .notJSON }
        }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            isWhole = false
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            guard skipDigits() > 0 else { throw .notJSON }
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if isWhole, let number = Int64(text) { return .integer(number) }
        guard let number = Double(text), number.isFinite else { throw .notJSON }
        return .fraction(number)
    }

    private mutating func skipDigits() -> Int {
        let start = position
        while let byte = next, byte.isASCIIDigit { position += 1 }
        return position - start
    }
}
