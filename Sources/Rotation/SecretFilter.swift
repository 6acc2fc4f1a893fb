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
    private var marks: [Bool]
    /// How many bits a mark has: enough for few of the marks to be taken.
    private let markBits: Int
    /// What is known of each byte of ``text``.
    private var covers: [Cover?]
    /// Where in ``text`` secrets begin, and not pieces of them.
    private var beginnings: Set<Int> = []
    private var names: [String] = []

    /// Why a byte is not shown.
    private enum Cover {
        /// It stands in what many secrets may have in common, such as a header.
        case common
        /// It stands in a signature, which one secret alone has: that of this number.
        case signature(Int)
    }

    package init(_ lines: [String]) {
        self.lines = lines.map { Array($0.utf8) }
        for (number, line) in self.lines.enumerated() {
            for (column, byte) in line.enumerated() where Self.isOfASecret(byte) {
                text.append(byte)
                places.append((number, column))
            }
        }
        covers = Array(repeating: nil, count: text.count)
        markBits = Int.bitWidth - text.count.leadingZeroBitCount + 4
        marks = Array(repeating: false, count: 1 << markBits)
        guard text.count >= Self.shortestPiece else { return }
        for start in 0...text.count - Self.shortestPiece {
            let piece = text[start..<start + Self.shortestPiece]
            pieces[piece, default: []].append(start)
            marks[mark(piece.prefix(Self.markedBytes).reduce(0, Self.appending))] = true
        }
    }

    /// Whether there is anything in which a piece of a secret could be found.
    package var isOfInterest: Bool { !pieces.isEmpty }

    /// Takes every piece of `secret`, a compact JWS, out. Where its signature was printed, or a piece of that, `name` is put
    /// there; what else there is of it may be another's, known or not.
    package mutating func cover(_ secret: [UInt8], as name: String) {
        let number = names.count
        names.append(name)
        for form in Self.forms(of: secret) where form.bytes.count >= Self.shortestPiece {
            var word: UInt64 = 0
            for (index, byte) in form.bytes.enumerated() {
                word = Self.appending(word, byte)
                let start = index - Self.markedBytes + 1
                guard start >= 0, start + Self.shortestPiece <= form.bytes.count, marks[mark(word)] else { continue }
                let piece = form.bytes[start..<start + Self.shortestPiece]
                guard let found = pieces[piece] else { continue }
                if start == 0 { beginnings.formUnion(found) }
                hide(found, start < form.signature ? .common : .signature(number))
                // Thousands of secrets have it: once is enough.
                if start < form.signature { pieces[piece] = nil }
            }
        }
    }

    private mutating func hide(_ found: [Int], _ cover: Cover) {
        for place in found {
            for index in place..<place + Self.shortestPiece {
                if case .common = cover, covers[index] != nil { continue }
                covers[index] = cover
            }
        }
    }

    /// A secret as it may be printed, and where its signature begins in that: as it is; without the two characters that
    /// plain base64 has others for, which are passed over in ``text``; in base64, which depends on how many bytes stand
    /// before it, and in which a compact JWS needs neither of the two; and in hexadecimal digits.
    private static func forms(of secret: [UInt8]) -> [(bytes: [UInt8], signature: Int)] {
        let signature = secret.lastIndex(of: UInt8(ascii: ".")).map { $0 + 1 } ?? 0
        func hexadecimal(_ digits: String) -> [UInt8] {
            let digits = Array(digits.utf8)
            return secret.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        }
        func isOfPlainBase64(_ byte: UInt8) -> Bool { byte != UInt8(ascii: "-") && byte != UInt8(ascii: "_") }
        return [
            (secret, signature),
            (secret.filter(isOfPlainBase64), secret.prefix(signature).count(where: isOfPlainBase64)),
        ]
            + (0..<3).map { (Base64URL.encode(Array(secret.dropFirst($0))), (max(signature - $0, 0) * 4 + 2) / 3) }
            + [(hexadecimal("0123456789abcdef"), 2 * signature), (hexadecimal("0123456789ABCDEF"), 2 * signature)]
    }

    private static let markedBytes = 8

    /// The last ``markedBytes`` of what ends in `byte`.
    private static func appending(_ word: UInt64, _ byte: UInt8) -> UInt64 { word << 8 | UInt64(byte) }

    /// A number of ``markBits`` bits made from the first eight bytes of a piece (multiplicative hashing: Knuth, The Art of
    /// Computer Programming, volume 3, section 6.4).
    private func mark(_ word: UInt64) -> Int {
        Int((word &* 0x9E37_79B9_7F4A_7C15) >> UInt64(64 - markBits))
    }

    /// The lines with names in the place of secrets; lines of which nothing is left are dropped.
    package var filtered: [String] {
        var replacements: [Int: [Int: String]] = [:]
        for (range, name) in replaced {
            for place in places[range] { replacements[place.line, default: [:]][place.column] = "" }
            let first = places[range.lowerBound]
            replacements[first.line]?[first.column] = name
        }
        return lines.enumerated().compactMap { number, line in
            guard let replaced = replacements[number] else { return String(decoding: line, as: UTF8.self) }
            var shown: [UInt8] = []
            for (column, byte) in line.enumerated() { shown += replaced[column].map { Array($0.utf8) } ?? [byte] }
            return shown.isEmpty ? nil : String(decoding: shown, as: UTF8.self)
        }
    }

    /// What stands in the place of a piece of which it cannot be told whose it is.
    private static let nameless = "(secret)"

    /// Parts of ``text``, and what is shown there. Each ends before the beginning of the next secret, or where a signature
    /// does that another one follows, and has the name of the signature in it.
    private var replaced: [(range: Range<Int>, name: String)] {
        let isHidden = widened
        var replaced: [(Range<Int>, String)] = []
        var start = 0
        var owner: (number: Int, end: Int)?
        func close(at end: Int) {
            replaced.append((start..<end, owner.map { names[$0.number] } ?? Self.nameless))
            (start, owner) = (end, nil)
        }
        while start < isHidden.count {
            guard isHidden[start] else {
                start += 1
                continue
            }
            let end = isHidden[start...].firstIndex(of: false) ?? isHidden.count
            var isCovered = false
            for index in start..<end {
                if isCovered, beginnings.contains(index) {
                    close(at: index)
                    isCovered = false
                }
                guard let cover = covers[index] else { continue }
                isCovered = true
                guard case .signature(let number) = cover else { continue }
                if let last = owner, last.number != number { close(at: last.end) }
                owner = (number, index + 1)
            }
            close(at: end)
        }
        return replaced
    }

    /// Whether each byte is covered, or stands in the same word as one that is: that is more of the same, or of another secret
    /// that is not known here.
    private var widened: [Bool] {
        var widened = covers.map { $0 != nil }
        var start = 0
        while start < places.count {
            var end = start + 1
            while end < places.count, places[end].line == places[start].line,
                places[end].column == places[end - 1].column + 1
            {
                end += 1
            }
            if widened[start..<end].contains(true) {
                for index in start..<end { widened[index] = true }
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
