import Linux

@testable import Rotation

/// Whatever a hook prints of a secret, however it is folded, no piece of it of any use is shown.
enum OutputTarget {
    static let secret =
        "eyJhbGciOiJFUzI1NiIsImtpZCI6IkFCQzEyM0RFRkciLCJ0eXAiOiJKV1QifQ.eyJpc3MiOiJERUYxMjNHSElKIiwiaWF0IjoxNzkwMDAwMDAwfQ"
        + ".DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"

    static func run(_ bytes: [UInt8]) throws {
        let lines = bytes.split(separator: 10, omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
        var filter = SecretFilter(lines)
        filter.cover(Array(secret.utf8), as: "sha256:0123456789abcdef")
        let shown = Redaction.printed(filter.filtered)
        for line in shown { try Shown.check(line.replacing("\t", with: " ")) }
        // What is put in the place of a secret is no piece of one, and divides what stands around it.
        let mark = #/\(\d+ characters\)|\(PEM\)|\(hex\)|\(secret\)|sha256:0123456789abcdef/#
        let text = shown.joined().replacing(mark, with: "\n").utf8.filter { $0 == 10 || isOfASecret($0) }
        let pieces = Set((0...(secret.utf8.count - 16)).map { Array(secret.utf8.dropFirst($0).prefix(16)) })
        for start in text.indices.dropLast(15) {
            try promise(!pieces.contains(Array(text[start..<start + 16])), "a piece of a secret: \(shown)")
        }
    }

    private static func isOfASecret(_ byte: UInt8) -> Bool {
        byte == 45 || byte == 46 || byte == 95 || (48...57).contains(byte) || (65...90).contains(byte)
            || (97...122).contains(byte)
    }
}
