internal import AppleClientSecret
internal import Failures
internal import Model

// Searches in the text of a key file, none of which leaves the secure memory.
extension SecureBuffer {
    /// `text` without all characters that base64 does not use, escaped line breaks included. Nil if the secure heap has no room
    /// for it.
    static func letters(of text: borrowing SecureBuffer) -> SecureBuffer? {
        guard var letters = SecureBuffer(capacity: max(1, text.count)) else { return nil }
        var wasBackslash = false
        for index in 0..<text.count {
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
