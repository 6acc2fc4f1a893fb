/// What people are shown, whatever it was made from.
enum Shown {
    /// A line without control characters, and without a run of characters that could be a piece of a key or a token. The
    /// characters of an escape such as `\x1b` belong to none.
    static func check(_ line: String) throws {
        var run = ""
        for scalar in line.replacing(#/\\x[0-9a-f]{2}|\\u\{[0-9a-f]+\}/#, with: " ").unicodeScalars {
            try promise(scalar.value >= 0x20 && !(0x7F..<0xA0).contains(scalar.value), "a control character: \(line)")
            switch scalar {
            case "A"..."Z", "a"..."z", "0"..."9", "-", "_", "+": run.unicodeScalars.append(scalar)
            default:
                try promise(isOrdinary(run), "what could be a secret: \(line)")
                run = ""
            }
        }
        try promise(isOrdinary(run), "what could be a secret: \(line)")
    }

    /// Whether a run is too short for a secret, a digest in hexadecimal, or a name without digits.
    private static func isOrdinary(_ run: String) -> Bool {
        let isDigest = [40, 64, 128].contains(run.utf8.count) && run.wholeMatch(of: #/[0-9a-f]*/#) != nil
        return run.utf8.count < 40 || isDigest || run.wholeMatch(of: #/[A-Za-z_-]*/#) != nil
    }
}
