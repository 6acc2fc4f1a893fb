import Linux

@testable import Failures

/// Whatever a hook prints of a secret, no piece of it of forty characters is shown, and a whole one is not in any folding.
enum OutputTarget {
    static let secret =
        "eyJhbGciOiJFUzI1NiIsImtpZCI6IkFCQzEyM0RFRkciLCJ0eXAiOiJKV1QifQ.eyJpc3MiOiJERUYxMjNHSElKIiwiaWF0IjoxNzkwMDAwMDAwfQ"
        + ".DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"

    static func run(_ bytes: [UInt8]) throws {
        let lines = bytes.split(separator: 10, omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
        let filtered = PrintedSecrets(lines).replaced(lengths: [secret.utf8.count]) {
            $0.elementsEqual(secret.utf8) ? "sha256:0123456789abcdef" : nil
        }
        let shown = Redaction.printed(lineByLine: filtered).compactMap(\.self)
        for line in shown { try Shown.check(line.replacing("\t", with: " ")) }
        for line in shown {
            let text = Array(line.utf8)
            for start in text.indices.dropLast(39) {
                try promise(!pieces.contains(text[start..<start + 40]), "a piece of a secret: \(shown)")
            }
        }
        // What is put in the place of a secret is no piece of one, and divides what stands around it.
        let mark = #/\(\d+ characters\)|\(PEM\)|sha256:0123456789abcdef/#
        let unfolded = shown.joined().replacing(mark, with: "\n").utf8.filter { $0 == 10 || isOfASecret($0) }
        try promise(!String(decoding: unfolded, as: UTF8.self).contains(secret), "a whole secret: \(shown)")
    }

    /// Every run of forty characters in one of its parts.
    private static let pieces = Set(
        secret.utf8.split(separator: UInt8(ascii: ".")).flatMap { part in
            part.count < 40 ? [] : (0...part.count - 40).map { ArraySlice(Array(part.dropFirst($0).prefix(40))) }
        })

    private static func isOfASecret(_ byte: UInt8) -> Bool {
        byte == 45 || byte == 46 || byte == 95 || (48...57).contains(byte) || (65...90).contains(byte)
            || (97...122).contains(byte)
    }
}
