/// What people are shown, whatever it was made from.
enum Shown {
    /// A line without control characters, and without a run of characters that could be a piece of a key or a token. The
    /// characters of an escape such as `\x1b` belong to none.
    static func check(_ line: String) throws {
        var run = 0
        for scalar in line.replacing(#/\\x[0-9a-f]{2}|\\u\{[0-9a-f]+\}/#, with: " ").unicodeScalars {
            try promise(scalar.value >= 0x20 && !(0x7F..<0xA0).contains(scalar.value), "a control character: \(line)")
            switch scalar {
            case "A"..."Z", "a"..."z", "0"..."9", "-", "_", "+": run += 1
            default: run = 0
            }
            try promise(run < 40, "what could be a secret: \(line)")
        }
    }
}
