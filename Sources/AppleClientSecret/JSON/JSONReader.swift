/// Reads one JSON text from its beginning to its end, by the rules of ``JSONValue``.
struct JSONReader {
    private let bytes: [UInt8]
    private let duplicates: JSONValue.Duplicates
    /// How many more values there may be.
    private var room: Int
    private var position = 0
    /// The names that lead to the value whose place is looked for; nil when none is.
    private let wanted: [String]?
    /// How many of ``wanted`` lead to the value that is being read.
    private var entered = 0
    /// The position of the value at ``wanted``.
    private(set) var found: Range<Int>?

    init(
        _ bytes: [UInt8], duplicates: JSONValue.Duplicates = .refused, room: Int = .max, wanted: [String]? = nil
    ) {
        self.bytes = bytes
        self.duplicates = duplicates
        self.room = room
        self.wanted = wanted
    }

    mutating func whole() throws(JSONError) -> JSONValue {
        let value = try value(level: 0)
        skipBlanks()
        guard position == bytes.count else { throw .notJSON }
        return value
    }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipBlanks() {
        while let byte = next, byte.isJSONBlank { position += 1 }
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

    private mutating func value(level: Int) throws(JSONError) -> JSONValue {
        skipBlanks()
        guard level <= JSONValue.deepest else { throw .tooDeep }
        guard room > 0, let first = next else { throw .notJSON }
        room -= 1
        let start = position
        defer { if let wanted, level == entered, wanted.count == entered { found = found ?? start..<position } }
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

    /// The value of a member or an element.
    private mutating func value(named name: String, level: Int) throws(JSONError) -> JSONValue {
        guard let wanted, entered == level - 1, entered < wanted.count, wanted[entered] == name else {
            return try value(level: level)
        }
        entered += 1
        defer { entered -= 1 }
        return try value(level: level)
    }

    private mutating func object(level: Int) throws(JSONError) -> JSONValue {
        position += 1
        var members: [String: JSONValue] = [:]
        skipBlanks()
        if take(UInt8(ascii: "}")) { return .object(members) }
        while true {
            skipBlanks()
            let name = try string()
            skipBlanks()
            guard take(UInt8(ascii: ":")) else { throw .notJSON }
            let value = try value(named: name, level: level + 1)
            let former = members.updateValue(value, forKey: name)
            if former != nil, duplicates == .refused { throw .duplicate(name) }
            skipBlanks()
            if take(UInt8(ascii: "}")) { return .object(members) }
            guard take(UInt8(ascii: ",")) else { throw .notJSON }
        }
    }

    private mutating func array(level: Int) throws(JSONError) -> JSONValue {
        position += 1
        var elements: [JSONValue] = []
        skipBlanks()
        if take(UInt8(ascii: "]")) { return .array(elements) }
        while true {
            elements.append(try value(named: wanted == nil ? "" : String(elements.count), level: level + 1))
            skipBlanks()
            if take(UInt8(ascii: "]")) { return .array(elements) }
            guard take(UInt8(ascii: ",")) else { throw .notJSON }
        }
    }

    private mutating func string() throws(JSONError) -> String {
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

    /// The character after a backslash.
    private mutating func escape() throws(JSONError) -> Unicode.Scalar {
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

    private mutating func codeUnit() throws(JSONError) -> UInt16 {
        guard let unit: UInt16 = Hex.decode(bytes[position...].prefix(4), capitals: true) else { throw .notJSON }
        position += 4
        return unit
    }

    private mutating func number() throws(JSONError) -> JSONValue {
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
        guard let number = Double(text) else { throw .notJSON }
        guard number.isFinite else { throw .numberTooLarge }
        return .fraction(number)
    }

    private mutating func skipDigits() -> Int {
        let start = position
        while let byte = next, byte.isASCIIDigit { position += 1 }
        return position - start
    }
}

extension UInt8 {
    /// Whether it is one of the four characters that may be between the parts of a JSON text (RFC 8259, section 2).
    package var isJSONBlank: Bool { self == 0x20 || self == 0x0A || self == 0x0D || self == 0x09 }
}
