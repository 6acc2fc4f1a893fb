internal import AppleClientSecret

/// The text of another program, as one decoding reads it: bytes, and for each the range of the original text that it comes from.
struct EchoDecoding {
    private(set) var bytes: [UInt8] = []
    private(set) var places: [Range<Int>] = []

    private init() {}

    /// The unchanged text.
    init(_ text: [UInt8]) {
        bytes = text
        places = text.indices.map { $0..<$0 + 1 }
    }

    private mutating func append(_ byte: UInt8, _ place: Range<Int>) {
        bytes.append(byte)
        places.append(place)
    }

    /// The text by each decoding of it.
    var decoded: [EchoDecoding] {
        (0..<4).map(decodedBase64) + (0..<2).map(decodedHexadecimal)
            + [unescaped(), decodedNumbers(of: 1, 0), decodedNumbers(of: 2, 0), decodedNumbers(of: 2, 1)]
            .compactMap { $0 }
    }

    // MARK: Escapes

    /// The same without one level of the escapes of URLs, JSON, C and HTML; nil if there are none.
    private func unescaped() -> EchoDecoding? {
        var result = EchoDecoding()
        var index = 0
        var hasEscapes = false
        while index < bytes.count {
            let (byte, length) = escape(at: index) ?? (bytes[index], 1)
            if length > 1 { hasEscapes = true }
            result.append(byte, places[index].lowerBound..<places[index + length - 1].upperBound)
            index += length
        }
        return hasEscapes ? result : nil
    }

    /// The byte that an escape means, and the escape's length. Characters beyond ASCII, which no token has, are blanks.
    private func escape(at index: Int) -> (UInt8, Int)? {
        switch bytes[index] {
        case UInt8(ascii: "%"), UInt8(ascii: "="):
            if bytes[index] == UInt8(ascii: "%"), byte(at: index + 1, in: "uU"), let code = code(at: index + 2, 4, 16) {
                return (code, 6)
            }
            return code(at: index + 1, 2, 16).map { ($0, 3) }
        case UInt8(ascii: "\\"): return backslash(at: index)
        case UInt8(ascii: "&"): return entity(at: index)
        default: return nil
        }
    }

    private func backslash(at index: Int) -> (UInt8, Int)? {
        guard index + 1 < bytes.count else { return nil }
        switch bytes[index + 1] {
        case UInt8(ascii: "u"): return code(at: index + 2, 4, 16).map { ($0, 6) } ?? (UInt8(ascii: "u"), 2)
        case UInt8(ascii: "x"): return code(at: index + 2, 2, 16).map { ($0, 4) } ?? (UInt8(ascii: "x"), 2)
        case UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"): return (0x20, 2)
        case UInt8(ascii: "0")...UInt8(ascii: "3"):
            return code(at: index + 1, 3, 8).map { ($0, 4) } ?? (bytes[index + 1], 2)
        default: return (bytes[index + 1], 2)
        }
    }

    private func entity(at index: Int) -> (UInt8, Int)? {
        var end = index + 1
        while end < bytes.count, end - index <= 10, bytes[end].isASCIIAlphanumeric || bytes[end] == UInt8(ascii: "#") {
            end += 1
        }
        let name = String(decoding: bytes[index + 1..<end], as: UTF8.self)
        let isEnded = end < bytes.count && bytes[end] == UInt8(ascii: ";")
        let length = end - index + (isEnded ? 1 : 0)
        if name.hasPrefix("#x") || name.hasPrefix("#X") {
            return UInt32(name.dropFirst(2), radix: 16).map { (Self.ascii($0), length) }
        }
        if name.hasPrefix("#") { return UInt32(name.dropFirst()).map { (Self.ascii($0), length) } }
        return isEnded && !name.isEmpty ? (0x20, length) : nil
    }

    /// The number of so many digits.
    private func code(at index: Int, _ count: Int, _ radix: Int) -> UInt8? {
        guard index + count <= bytes.count else { return nil }
        let digits = bytes[index..<index + count]
        guard digits.allSatisfy(\.isASCIIAlphanumeric) else { return nil }
        return UInt32(String(decoding: digits, as: UTF8.self), radix: radix).map(Self.ascii)
    }

    private func byte(at index: Int, in set: String) -> Bool { index < bytes.count && set.utf8.contains(bytes[index]) }

    private static func ascii(_ code: UInt32) -> UInt8 { code < 0x80 ? UInt8(code) : 0x20 }

    // MARK: Encodings

    /// The bytes that the text's characters of base64 and base64url encode, with any text between them.
    ///
    /// - Parameter phase: how many characters are left out at the beginning, because text before the encoded part counts too.
    func decodedBase64(phase: Int) -> EchoDecoding {
        decoded(bits: 6, phase: phase) { byte in
            (Base64.Alphabet.standard.value(of: byte) ?? Base64.Alphabet.url.value(of: byte)).map(Int.init)
        }
    }

    /// The bytes that the text's hexadecimal digits encode, with any text between them.
    private func decodedHexadecimal(phase: Int) -> EchoDecoding {
        decoded(bits: 4, phase: phase) { Hex.value(of: $0).map(Int.init) }
    }

    /// The characters that the text's numbers encode, as in `[101, 121]` or `{"0": 101, "1": 121}`; nil if there are few.
    ///
    /// - Parameters:
    ///   - step: of so many numbers one counts, because indices may be between them.
    ///   - phase: which one of them.
    private func decodedNumbers(of step: Int, _ phase: Int) -> EchoDecoding? {
        var result = EchoDecoding()
        var (index, count) = (0, 0)
        /// The end of the last character of the list.
        var end: Int?
        while index < bytes.count {
            let word = bytes[index...].prefix(while: \.isASCIIAlphanumeric)
            index = word.endIndex + 1
            guard let number = Self.number(word) else { continue }
            count += 1
            guard (count - 1) % step == phase else { continue }
            let start = places[word.startIndex].lowerBound
            // Text between two characters of a list goes with them, blanks too.
            let before = end.flatMap { start - $0 <= Self.longestSeparator ? $0 : nil } ?? start
            let place = min(start, before)..<places[word.endIndex - 1].upperBound
            if number > 0x20 { end = place.upperBound }
            result.append(Self.ascii(number), place)
        }
        return result.bytes.count < Self.fewestNumbers ? nil : result
    }

    private static let fewestNumbers = 4
    /// In bytes, with an index.
    private static let longestSeparator = 24

    /// A whole word as a number: decimal, hexadecimal (`0x65`) or octal (`0o145`).
    private static func number(_ word: ArraySlice<UInt8>) -> UInt32? {
        guard word.first?.isASCIIDigit == true, word.count <= 8 else { return nil }
        let text = String(decoding: word, as: UTF8.self).lowercased()
        if text.hasPrefix("0x") { return UInt32(text.dropFirst(2), radix: 16) }
        return text.hasPrefix("0o") ? UInt32(text.dropFirst(2), radix: 8) : UInt32(text)
    }

    private func decoded(bits: Int, phase: Int, _ value: (UInt8) -> Int?) -> EchoDecoding {
        var result = EchoDecoding()
        var (buffer, count, skipped) = (0, 0, 0)
        // The beginning of the characters that the buffer's bits come from.
        var start = 0
        for (byte, place) in zip(bytes, places) {
            guard let value = value(byte) else { continue }
            guard skipped == phase else {
                skipped += 1
                continue
            }
            if count == 0 { start = place.lowerBound }
            buffer = (buffer << bits | value) & 0xFFFF
            count += bits
            guard count >= 8 else { continue }
            count -= 8
            result.append(UInt8(truncatingIfNeeded: buffer >> count), start..<place.upperBound)
            start = place.lowerBound
        }
        return result
    }
}
