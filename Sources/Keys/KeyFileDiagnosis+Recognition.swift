internal import AppleClientSecret
internal import Failures
internal import Model

// Searches in the text of a key file, none of which leaves the secure memory.
extension SecureBuffer {
    /// What is left of `text` without all that no base64 has, escaped line breaks included; nil where the secure heap has
    /// no room for it.
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

    /// What of the text is in the way of reading a key with this label.
    func damage(ofKey label: String) -> [KeyFileDiagnosis.Kind] {
        let nul = ranges(of: [0])
        // Of each letter's two or four bytes all are NUL but one.
        if nul.count > count * 5 / 8 { return [.utf32] }
        if nul.count > count / 3 { return [.utf16] }
        var kinds: [KeyFileDiagnosis.Kind] = []
        if contains(#"\n"#) { kinds.append(.escapedLineBreaks) }
        // U+2010 to U+2015 and the minus sign.
        if (0x90...0x95).contains(where: { contains([0xE2, 0x80, $0]) }) || contains("\u{2212}") {
            kinds.append(.dashes)
        }
        if ["\u{A0}", "\u{2002}", "\u{2003}", "\u{2007}", "\u{2009}", "\u{200B}", "\u{202F}", "\u{2060}", "\u{3000}"]
            .contains(where: { contains($0) })
        {
            kinds.append(.spaces)
        }
        if ["\"", "'", "`", "\u{201C}", "\u{201D}", "\u{2018}", "\u{2019}"].contains(where: { contains($0) }) {
            kinds.append(.quotes)
        }
        if let begin = ranges(of: Array("BEGIN".utf8)).first?.lowerBound,
            (0..<begin).contains(where: { self[$0] == UInt8(ascii: "=") })
        {
            kinds.append(.assignment)
        }
        if kinds.isEmpty, hasLine("-----BEGIN \(label)-----"), hasLine("-----END \(label)-----") {
            kinds.append(.plainSpaces)
        }
        if kinds.isEmpty, contains("-%") { kinds.append(.percent) }
        if kinds.isEmpty, ranges(of: [0x0A]).count < 2 { kinds.append(.missingLineBreaks) }
        if kinds.isEmpty {
            let ends = ranges(of: Array("-----END ".utf8))
            kinds.append(ends.isEmpty ? .markers : .textAround)
        }
        return kinds
    }

    /// Whether there is a line that differs from this one in blanks only.
    private func hasLine(_ text: String) -> Bool {
        let wanted = text.utf8.filter { $0 != 32 }
        var position = 0
        while position < count {
            let line = line(from: position)
            position = line.next
            var matched = 0
            for index in line.start..<line.end where !self[index].isASCIISpace {
                guard matched < wanted.count, self[index] == wanted[matched] else {
                    matched = -1
                    break
                }
                matched += 1
            }
            if matched == wanted.count { return true }
        }
        return false
    }

    /// Removes what precedes the first `=` if `value` follows it.
    mutating func dropName(before value: [UInt8]) {
        guard let equals = (0..<count).first(where: { self[$0] == UInt8(ascii: "=") }),
            starts(with: value, at: equals + 1)
        else { return }
        dropFirst(equals + 1)
    }

    /// Where these bytes are, without overlaps.
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
