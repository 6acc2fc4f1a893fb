internal import AppleClientSecret

// What else a file holds than its key. Such a file does not belong to the key alone, so no remedy writes it again.
extension SecureBuffer {
    /// Whether there is text around a key: other settings, comments, certificates or a passphrase, say. These are no such text:
    /// blanks and punctuation, BEGIN and END lines, and the name that the key is assigned to.
    func holdsText(around key: Range<Int>) -> Bool {
        holdsWords(in: 0..<startOfName(before: key.lowerBound)) || holdsWords(in: key.upperBound..<count)
    }

    private func holdsWords(in range: Range<Int>) -> Bool {
        var isMark = false
        var isEscape = false
        var dashes = 0
        for index in range {
            let byte = self[index]
            // UTF-16 has them.
            if byte == 0 { continue }
            if byte.isASCIIAlphanumeric {
                let isEscaped = isEscape && "nrt".utf8.contains(byte)
                if dashes >= 5 { isMark = ["BEGIN ", "END "].contains { starts(with: Array($0.utf8), at: index) } }
                guard isEscaped || isMark && (byte.isASCIICapital || byte.isASCIIDigit) else { return true }
            } else if byte != UInt8(ascii: " ") {
                isMark = false
            }
            dashes = byte == UInt8(ascii: "-") ? dashes + 1 : 0
            isEscape = byte == UInt8(ascii: "\\")
        }
        return false
    }

    /// Where the name begins to which the text at `end` is assigned, with `=` in its line, or with `:` there or above it; `end` if
    /// there is no such name.
    private func startOfName(before end: Int) -> Int {
        var index = end
        var isSameLine = true
        while index > 0, !self[index - 1].isASCIIAlphanumeric, !":=".utf8.contains(self[index - 1]) {
            index -= 1
            if self[index] == UInt8(ascii: "\n") { isSameLine = false }
        }
        guard index > 0, isSameLine ? ":=".utf8.contains(self[index - 1]) : self[index - 1] == UInt8(ascii: ":") else {
            return end
        }
        index -= 1
        while index > 0, " \t\"'\\\0:".utf8.contains(self[index - 1]) { index -= 1 }
        let nameEnd = index
        while index > 0, self[index - 1].isASCIIAlphanumeric || "_.-\0".utf8.contains(self[index - 1]) { index -= 1 }
        guard index < nameEnd else { return end }
        var before = index
        while before > 0, self[before - 1] == UInt8(ascii: " ") { before -= 1 }
        let export = Array("export".utf8)
        return before < index && before >= export.count && starts(with: export, at: before - export.count)
            ? before - export.count : index
    }
}
