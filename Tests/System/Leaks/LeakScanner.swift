import Foundation

/// Finds known secrets, and pieces of them, in whatever came out: as bytes, in hexadecimal digits, in base64 and base64url
/// wherever the secret stands in what was encoded.
struct LeakScanner {
    /// Bytes of a piece as it is written: no text has so many of a secret's by chance.
    static let shortestPiece = 16

    private struct Piece: Hashable {
        let first: UInt64
        let second: UInt64
    }

    private var pieces: [Piece: String] = [:]
    /// Whether a piece may end in these two bytes: most of what is scanned is passed over by this alone.
    private var endings = [Bool](repeating: false, count: 1 << 16)

    /// Looks for `secret` from now on; `name` says what was found.
    mutating func watch(_ secret: [UInt8], as name: String) {
        for (encoding, form) in Self.forms(of: secret) {
            Self.visit(form) { piece in
                pieces[piece] = "\(name) \(encoding)"
                endings[Int(piece.second & 0xFFFF)] = true
            }
        }
    }

    /// What of the secrets is in `bytes`, by name and encoding.
    func leaks(in bytes: some Sequence<UInt8>) -> Set<String> {
        var found: Set<String> = []
        Self.visit(bytes) { piece in
            if endings[Int(piece.second & 0xFFFF)], let name = pieces[piece] { found.insert(name) }
        }
        return found
    }

    static func forms(of secret: [UInt8]) -> [(encoding: String, bytes: [UInt8])] {
        var forms = [("as it is", secret)]
        let digits = secret.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        forms.append(("in small hexadecimal digits", Array(digits.utf8)))
        forms.append(("in capital hexadecimal digits", Array(digits.uppercased().utf8)))
        for skipped in 0..<3 {
            // Without the last characters, which depend on what stands behind.
            let whole = secret.dropFirst(skipped)
            let text = Data(whole.dropLast(whole.count % 3)).base64EncodedString()
            forms.append(("in base64", Array(text.utf8)))
            let other = text.replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            if other != text { forms.append(("in base64url", Array(other.utf8))) }
        }
        return forms
    }

    /// Calls `body` with every run of ``shortestPiece`` bytes.
    private static func visit(_ bytes: some Sequence<UInt8>, _ body: (Piece) -> Void) {
        var first: UInt64 = 0
        var second: UInt64 = 0
        var count = 0
        for byte in bytes {
            first = first << 8 | second >> 56
            second = second << 8 | UInt64(byte)
            count += 1
            if count >= shortestPiece { body(Piece(first: first, second: second)) }
        }
    }
}
