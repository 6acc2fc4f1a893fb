internal import AppleClientSecret

/// Texts that must not be shown, such as a token and the secret that was sent with it. Removes them, and pieces of them, from a
/// server's messages.
///
/// A server may return a request in another form. It finds them in other case, with other separators between the characters, or
/// cut. It also finds them percent-encoded (`%2F`), JSON-escaped (`\u002f`, `\/`), and in base64 or base64url at any offset. The
/// same holds for up to three of these encodings, one in another.
///
/// A piece of a text is ``pieceLength`` consecutive letters and digits of it, or as many characters that are no blanks.
package struct EchoedSecrets: Sendable {
    /// Replaces a piece.
    static let replacement = "(secret)"
    /// The longest part of a server's message that is shown, in Unicode scalars.
    static let longestWords = 200
    /// In bytes: more of an answer is not looked at.
    private static let longestText = 4_096
    /// In characters: shorter pieces occur by chance.
    private static let pieceLength = 8
    /// In bytes: a shorter text is not hidden, because it is no secret.
    private static let shortestText = 4
    /// Gaps of so few bytes between two pieces belong to them.
    private static let longestGap = 4
    /// How many encodings may be one in another.
    private static let levels = 3

    /// The pieces by their length, each in eight bytes.
    private var pieces: [Int: Set<UInt64>] = [:]

    package init(_ texts: some Sequence<String>) {
        for text in texts where text.utf8.count >= Self.shortestText {
            for alphabet in Self.alphabets {
                let characters = text.utf8.compactMap(alphabet)
                guard characters.count >= Self.shortestText else { continue }
                // Half of a short text is worth hiding too.
                let length = min(characters.count, max(5, min(Self.pieceLength, characters.count / 2)))
                Self.scan(characters, length) { pieces[length, default: []].insert($1) }
            }
        }
    }

    /// A server's message, fit to be shown: without these texts, on one line, in ``longestWords`` at most.
    package func words(_ text: String) -> String {
        let words = Redaction.plain(redacted(text)).split { $0.isWhitespace }.joined(separator: " ")
        return String(String.UnicodeScalarView(Printable.clause(words).unicodeScalars.prefix(Self.longestWords)))
    }

    /// The beginning of a text, without these texts.
    package func redacted(_ text: String) -> String {
        let bytes = Array(text.utf8.prefix(Self.longestText))
        var isHidden = [Bool](repeating: false, count: bytes.count)
        search(EchoDecoding(bytes), Self.levels, marking: &isHidden)
        var shown: [UInt8] = []
        var index = 0
        while index < bytes.count {
            guard isHidden[index] else {
                shown.append(bytes[index])
                index += 1
                continue
            }
            shown += Self.replacement.utf8
            while let next = isHidden[index...].prefix(Self.longestGap + 1).firstIndex(of: true) { index = next + 1 }
        }
        return String(decoding: shown, as: UTF8.self)
    }

    private func search(_ text: EchoDecoding, _ levels: Int, marking isHidden: inout [Bool]) {
        for alphabet in Self.alphabets { mark(text, alphabet, in: &isHidden) }
        guard levels > 0 else { return }
        for decoded in text.decoded where decoded.bytes.count >= Self.shortestText {
            search(decoded, levels - 1, marking: &isHidden)
        }
    }

    private func mark(_ text: EchoDecoding, _ alphabet: (UInt8) -> UInt8?, in isHidden: inout [Bool]) {
        var characters: [UInt8] = []
        var indices: [Int] = []
        for (index, byte) in text.bytes.enumerated() {
            guard let character = alphabet(byte) else { continue }
            characters.append(character)
            indices.append(index)
        }
        for (length, pieces) in pieces {
            Self.scan(characters, length) { start, piece in
                guard pieces.contains(piece) else { return }
                for place in indices[start..<start + length].map({ text.places[$0] }) {
                    for index in place { isHidden[index] = true }
                }
            }
        }
    }

    /// Passes every run of `length` characters on, with its start; eight at most.
    private static func scan(_ characters: [UInt8], _ length: Int, _ body: (_ start: Int, _ piece: UInt64) -> Void) {
        let mask = length == 8 ? UInt64.max : (1 << (UInt64(length) * 8)) - 1
        var piece: UInt64 = 0
        for (index, character) in characters.enumerated() {
            piece = (piece << 8 | UInt64(character)) & mask
            if index + 1 >= length { body(index + 1 - length, piece) }
        }
    }

    /// Which bytes count, and as which.
    private static let alphabets: [@Sendable (UInt8) -> UInt8?] = [letter, visible]

    /// A letter or digit, without its case; nil for any other byte.
    @Sendable private static func letter(_ byte: UInt8) -> UInt8? {
        byte.isASCIIAlphanumeric ? byte.asciiLowercased : nil
    }

    /// Every byte that is no blank, letters without their case.
    @Sendable private static func visible(_ byte: UInt8) -> UInt8? { byte > 0x20 ? letter(byte) ?? byte : nil }
}
