internal import AppleClientSecret
internal import Failures
internal import Model

// Searches in the text of a key file, none of which leaves the secure memory.
extension SecureBuffer {
    /// `text` without all characters that base64 does not use, escaped line breaks included. Nil if the secure heap has no room
    /// for it.
    static func letters(of text: borrowing SecureBuffer, from start: Int = 0) -> SecureBuffer? {
        guard var letters = SecureBuffer(capacity: max(1, text.count - start)) else { return nil }
        var wasBackslash = false
        for index in start..<text.count {
            let byte = text[index]
            if byte == UInt8(ascii: "\\") {
                wasBackslash = true
            } else if Base64.Alphabet.standard.value(of: byte) != nil || byte == UInt8(ascii: "=") {
                let isLineBreak = wasBackslash && (byte == UInt8(ascii: "n") || byte == UInt8(ascii: "r"))
                wasBackslash = false
                if !isLineBreak { letters.append(byte) }
            }
        }
        return letters
    }

    /// The bytes of the first long base64 in the text, which may have blanks, line breaks, backslashes and NULs in it; nil if there
    /// is none.
    func decodedBase64() -> SecureBuffer? {
        guard var run = SecureBuffer(capacity: max(1, count)) else { return nil }
        for index in 0...count {
            let byte = index < count ? self[index] : UInt8(ascii: "=")
            if byte.isASCIISpace || byte == UInt8(ascii: "\\") || byte == 0 { continue }
            if Base64.Alphabet.standard.value(of: byte) != nil {
                run.append(byte)
            } else if run.count >= Self.shortestBase64 {
                break
            } else {
                run.truncate(to: 0)
            }
        }
        guard run.count >= Self.shortestBase64 else { return nil }
        return PEMBlock.decode(run, 0..<run.count, isPadded: false)
    }

    /// More characters than the base64 of a key in DER has, and fewer than that of its PEM.
    private static let shortestBase64 = 200

    /// Whether anything but blanks and line breaks follows the last of these blocks.
    func hasText(after blocks: [PEMBlock]) -> Bool {
        ((blocks.last?.end ?? count)..<count).contains { self[$0] > 32 }
    }

    /// Removes the text before the first `=` if `value` follows it.
    mutating func dropName(before value: [UInt8]) {
        guard let equals = (0..<count).first(where: { self[$0] == UInt8(ascii: "=") }),
            starts(with: value, at: equals + 1)
        else { return }
        dropFirst(equals + 1)
    }

    /// The ranges of these bytes, without overlaps.
    func ranges(of bytes: [UInt8]) -> [Range<Int>] {
        var found: [Range<Int>] = []
        var index = 0
        while index + bytes.count <= count {
            if starts(with: bytes, at: index) {
                found.append(index..<index + bytes.count)
                index += bytes.count
            } else {
                index += 1
            }
        }
        return found
    }

    func contains(_ bytes: [UInt8]) -> Bool { !ranges(of: bytes).isEmpty }

    func contains(_ text: String) -> Bool { contains(Array(text.utf8)) }
}
