extension Redaction {
    /// How many pairs of hexadecimal digits a private key on P-256 has.
    private static let keyPairs = 32

    /// Lines that a program printed, without what ``printed(_:)`` would take for a fingerprint and is a private key: so many
    /// pairs of hexadecimal digits in one line, with the same character between any two.
    ///
    /// - Parameter isKey: whether these 64 hexadecimal digits are a private key that is known.
    package static func withoutKeys(_ lines: [String], isKey: ([UInt8]) -> Bool) -> [String] {
        lines.map { line in
            guard line.utf8.count >= 3 * keyPairs - 1 else { return line }
            let bytes = Array(line.utf8)
            var shown: [UInt8] = []
            var start = 0
            while start < bytes.count {
                let end = endOfPairs(bytes, from: start)
                if end - start >= 3 * keyPairs - 1, holdsKey(bytes[start..<end], isKey) {
                    shown += Array("(hex)".utf8)
                } else {
                    shown += bytes[start..<end]
                }
                start = end
            }
            return String(decoding: shown, as: UTF8.self)
        }
    }

    private static func holdsKey(_ pairs: ArraySlice<UInt8>, _ isKey: ([UInt8]) -> Bool) -> Bool {
        var digits: [UInt8] = []
        for start in stride(from: pairs.startIndex, to: pairs.endIndex, by: 3) {
            digits += pairs[start..<start + 2]
        }
        let length = 2 * keyPairs
        for start in stride(from: 0, through: digits.count - length, by: 2)
        where isKey(Array(digits[start..<start + length])) {
            return true
        }
        return false
    }

    /// Behind the pairs of digits from `start` on, or behind one character where there are none.
    private static func endOfPairs(_ bytes: [UInt8], from start: Int) -> Int {
        func isPair(_ index: Int) -> Bool {
            index + 1 < bytes.count && isHexadecimal(bytes[index]) && isHexadecimal(bytes[index + 1])
        }
        guard isPair(start) else { return start + 1 }
        var end = start + 2
        while end < bytes.count, bytes[end] == bytes[min(start + 2, bytes.count - 1)], !isHexadecimal(bytes[end]),
            isPair(end + 1)
        {
            end += 3
        }
        return end
    }

    /// Whether it is a hexadecimal digit.
    static func isHexadecimal(_ byte: UInt8) -> Bool {
        switch byte {
        case 48...57, 65...70, 97...102: true
        default: false
        }
    }
}
