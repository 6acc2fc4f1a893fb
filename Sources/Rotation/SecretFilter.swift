internal import AppleClientSecret

/// Takes known secrets out of lines that somebody else has printed: whole ones, and every piece of one that is long
/// enough to be worth something, also where the printer has folded it over several lines, put it into quotes, or written it
/// in base64 or in hexadecimal digits.
package struct SecretFilter {
    /// No word of sense is a piece of a secret this long by chance: it has 96 bits.
    static let shortestPiece = 16

    private let lines: [[UInt8]]
    /// The bytes that a secret may consist of, one line after the other, and where each stands.
    private var text: [UInt8] = []
    private var places: [(line: Int, column: Int)] = []
    /// Where in ``text`` each run of ``shortestPiece`` bytes begins.
    private var pieces: [ArraySlice<UInt8>: [Int]] = [:]
    /// Which marks the runs in ``pieces`` have: there may be thousands of secrets, none of which was printed.
    private var marks = Array(repeating: false, count: 1 << markBits)
    /// By which secret's name each byte of ``text`` is replaced, by its number.
    private var covered: [Int?]
    private var names: [String] = []

    package init(_ lines: [String]) {
        self.lines = lines.map { Array($0.utf8) }
        for (number, line) in self.lines.enumerated() {
            for (column, byte) in line.enumerated() where Self.isOfASecret(byte) {
                text.append(byte)
                places.append((number, column))
            }
        }
        covered = Array(repeating: nil, count: text.count)
        guard text.count >= Self.shortestPiece else { return }
        for start in 0...text.count - Self.shortestPiece {
            let piece = text[start..<start + Self.shortestPiece]
            pieces[piece, default: []].append(start)
            marks[Self.mark(piece)] = true
        }
    }

    /// Whether there is anything in which a piece of a secret could be found.
    package var isOfInterest: Bool { !pieces.isEmpty }

    /// Takes every piece of `secret`, a compact JWS, out and puts `name` there.
    package mutating func cover(_ secret: [UInt8], as name: String) {
        let number = names.count
        names.append(name)
        for form in Self.forms(of: secret) where form.count >= Self.shortestPiece {
            for start in 0...form.count - Self.shortestPiece {
                let piece = form[start..<start + Self.shortestPiece]
                guard marks[Self.mark(piece)] else { continue }
                for place in pieces[piece] ?? [] {
                    // What several secrets have in common, such as their header, goes by the one that covers most.
                    for index in place..<place + Self.shortestPiece { covered[index] = number }
                }
            }
        }
    }

    /// A secret as it may be printed: as it is; without the two characters that plain base64 has others for, which are
    /// passed over in ``text``; in base64, which depends on how many bytes stand before it, and in which a compact JWS needs
    /// neither of the two; and in hexadecimal digits.
    private static func forms(of secret: [UInt8]) -> [[UInt8]] {
        func hexadecimal(_ digits: String) -> [UInt8] {
            let digits = Array(digits.utf8)
            return secret.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        }
        return [secret, secret.filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: "_") }]
            + (0..<3).map { Base64URL.encode(Array(secret.dropFirst($0))) }
            + [hexadecimal("0123456789abcdef"), hexadecimal("0123456789ABCDEF")]
    }

    private static let markBits = 16

    /// A number of ``markBits`` bits made from the first eight bytes of a piece (multiplicative hashing: Knuth, The Art of
    /// Computer Programming, volume 3, section 6.4).
    private static func mark(_ piece: ArraySlice<UInt8>) -> Int {
        let word = piece.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Int((word &* 0x9E37_79B9_7F4A_7C15) >> (64 - UInt64(markBits)))
    }

    /// The lines with names in the place of secrets; lines of which nothing is left are dropped.
    package var filtered: [String] {
        let covered = widened
        var replacements: [Int: [Int: String]] = [:]
        var index = 0
        while index < covered.count {
            guard covered[index] != nil else {
                index += 1
                continue
            }
            let end = covered[index...].firstIndex(of: nil) ?? covered.count
            var share: [Int: Int] = [:]
            for case let number? in covered[index..<end] { share[number, default: 0] += 1 }
            let name = share.max { ($0.value, $0.key) < ($1.value, $1.key) }.map { names[$0.key] }
            for place in places[index..<end] { replacements[place.line, default: [:]][place.column] = "" }
            replacements[places[index].line]?[places[index].column] = name
            index = end
        }
        return lines.enumerated().compactMap { number, line in
            guard let replaced = replacements[number] else { return String(decoding: line, as: UTF8.self) }
            var shown: [UInt8] = []
            for (column, byte) in line.enumerated() { shown += replaced[column].map { Array($0.utf8) } ?? [byte] }
            return shown.isEmpty ? nil : String(decoding: shown, as: UTF8.self)
        }
    }

    /// ``covered``, and what stands beside it in the same word: that is more of the same, or of another secret that is not
    /// known here.
    private var widened: [Int?] {
        var widened = covered
        var start = 0
        while start < places.count {
            var end = start + 1
            while end < places.count, places[end].line == places[start].line,
                places[end].column == places[end - 1].column + 1
            {
                end += 1
            }
            if var nearest = covered[start..<end].lazy.compactMap({ $0 }).first {
                for index in start..<end {
                    nearest = covered[index] ?? nearest
                    widened[index] = nearest
                }
            }
            start = end
        }
        return widened
    }

    /// The characters of a compact JWS (RFC 7515, section 7.1).
    private static func isOfASecret(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), 48...57,
            UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
            true
        default: false
        }
    }
}
