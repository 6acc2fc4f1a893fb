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
            if text.isLetter(index, &wasBackslash) { letters.append(text[index]) }
        }
        return letters
    }

    /// Whether base64 uses the character at `index`. An escaped line break is none.
    ///
    /// - Parameter wasBackslash: kept from one index to the next.
    private func isLetter(_ index: Int, _ wasBackslash: inout Bool) -> Bool {
        let byte = self[index]
        if byte == UInt8(ascii: "\\") {
            wasBackslash = true
            return false
        }
        guard Base64.Alphabet.standard.value(of: byte) != nil || byte == UInt8(ascii: "=") else { return false }
        let isLineBreak = wasBackslash && (byte == UInt8(ascii: "n") || byte == UInt8(ascii: "r"))
        wasBackslash = false
        return !isLineBreak
    }

    /// The range in the text of some of its letters (``letters(of:from:)``), which must be there.
    func range(ofLetters wanted: Range<Int>) -> Range<Int> {
        var wasBackslash = false
        var number = 0
        var (start, end) = (count, count)
        for index in 0..<count {
            guard isLetter(index, &wasBackslash) else { continue }
            if number == wanted.lowerBound { start = index }
            number += 1
            if number == wanted.upperBound {
                end = index + 1
                break
            }
        }
        return min(start, end)..<end
    }

    /// The range of the first long base64 in the text, which may have blanks, line breaks, backslashes and NULs in it; nil if there
    /// is none.
    func rangeOfBase64() -> Range<Int>? {
        var start = 0
        var length = 0
        for index in 0...count {
            let byte = index < count ? self[index] : UInt8(ascii: "=")
            if byte.isASCIISpace || byte == UInt8(ascii: "\\") || byte == 0 { continue }
            if Base64.Alphabet.standard.value(of: byte) != nil {
                if length == 0 { start = index }
                length += 1
            } else if length >= Self.shortestBase64 {
                return start..<index
            } else {
                length = 0
            }
        }
        return nil
    }

    /// The bytes of the base64 at ``rangeOfBase64()``; nil if there is none.
    func decodedBase64() -> SecureBuffer? {
        guard let range = rangeOfBase64(), var run = SecureBuffer(capacity: range.count) else { return nil }
        for index in range where Base64.Alphabet.standard.value(of: self[index]) != nil { run.append(self[index]) }
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
