extension Redaction {
    /// Lines that a program printed, without anything that could be a piece of a token or a key: what ``plain(_:)`` leaves
    /// out, PEM to its end, bytes in hexadecimal digits, and code that is folded over several lines or that slashes divide,
    /// as base64 has them.
    package static func printed(_ lines: [String]) -> [String] {
        var bytes = PrintedBytes()
        let lines = lines.compactMap { bytes.cutOff($0) }
        var shown: [String] = []
        var isWithinPEM = false
        var index = 0
        while index < lines.count {
            let line = lines[index]
            let word = code(line)
            if isWithinPEM {
                isWithinPEM = word != nil && !line.contains(pemEnd)
                if isWithinPEM || line.contains(pemEnd) {
                    index += 1
                    continue
                }
            }
            guard let word else {
                isWithinPEM = line.contains("-----BEGIN ") && !line.contains(pemEnd)
                shown.append(plain(withoutCode(line)))
                index += 1
                continue
            }
            // More lines than these are code because the first of them are.
            let probe = lines[index..<endOfFolded(lines, from: index, limit: index + 64)].compactMap(code)
            let isPath = probe.count == 1 && word.first == UInt8(ascii: "/")
            if !isPath, isSecretive(Array(probe.joined())) {
                let end = endOfFolded(lines, from: index, limit: lines.count)
                shown.append("(\(lines[index..<end].compactMap(code).joined().count) characters)")
                index = end
            } else {
                shown.append(plain(line))
                index += 1
            }
        }
        return shown
    }

    private static let pemEnd = "-----END "

    /// Behind the lines from `start` on that are code, none longer than the one before it: so is what was folded, its last
    /// line being the shortest.
    private static func endOfFolded(_ lines: [String], from start: Int, limit: Int) -> Int {
        var end = start
        var width = Int.max
        while end < min(limit, lines.count), let next = code(lines[end]), next.count <= width {
            width = next.count
            end += 1
        }
        return end
    }

    /// The one word that a line consists of, if that could be base64 or hexadecimal digits; quotes and the like around it do
    /// not count.
    private static func code(_ line: String) -> ArraySlice<UInt8>? {
        let words = Array(line.utf8).split(whereSeparator: { " \t\"'`,\\".utf8.contains($0) })
        guard words.count == 1, let word = words.first, word.allSatisfy(isCode) else { return nil }
        return word
    }

    /// A line of prose with every word left out that is long, of the base64 alphabet, divided by slashes and no path.
    private static func withoutCode(_ line: String) -> String {
        var result: [UInt8] = []
        var word: [UInt8] = []
        func flush() {
            let isPath = word.first == UInt8(ascii: "/") || !word.contains(UInt8(ascii: "/"))
            result += isPath || !isSecretive(word) ? word : Array("(\(word.count) characters)".utf8)
            word = []
        }
        for byte in line.utf8 {
            if isCode(byte) {
                word.append(byte)
            } else {
                flush()
                result.append(byte)
            }
        }
        flush()
        return String(decoding: result, as: UTF8.self)
    }

    /// Whether it is long enough to be worth something, and mixed as no words are.
    private static func isSecretive(_ word: [UInt8]) -> Bool {
        guard word.count > longestPlainRun else { return false }
        let hasDigits = word.contains { (48...57).contains($0) }
        let hasCapitals = word.contains { (65...90).contains($0) }
        let hasSmall = word.contains { (97...122).contains($0) }
        let isHexadecimal = word.allSatisfy { byte in
            (48...57).contains(byte) || (hasCapitals ? 65...70 : 97...102).contains(byte)
        }
        return hasDigits && (hasCapitals && hasSmall || isHexadecimal)
    }

    /// The characters of base64 and base64url.
    private static func isCode(_ byte: UInt8) -> Bool {
        switch byte {
        case 48...57, 65...90, 97...122: true
        default: "+/=_-".utf8.contains(byte)
        }
    }
}
