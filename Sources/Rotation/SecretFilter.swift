/// Takes known secrets out of lines that somebody else has printed: whole ones, and every piece of one that is long
/// enough to be worth something, also where the printer has folded it over several lines or put it into quotes.
package struct SecretFilter {
    /// No word of sense is a piece of a secret this long by chance: it has 96 bits.
    static let shortestPiece = 16

    private let lines: [[UInt8]]
    /// The bytes that a secret may consist of, one line after the other, and where each stands.
    private var text: [UInt8] = []
    private var places: [(line: Int, column: Int)] = []
    /// Where in ``text`` each run of ``shortestPiece`` bytes begins.
    private var pieces: [ArraySlice<UInt8>: [Int]] = [:]
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
            pieces[text[start..<start + Self.shortestPiece], default: []].append(start)
        }
    }

    /// Whether there is anything in which a piece of a secret could be found.
    package var isOfInterest: Bool { !pieces.isEmpty }

    /// Takes every piece of `secret` out and puts `name` there.
    package mutating func cover(_ secret: [UInt8], as name: String) {
        guard secret.count >= Self.shortestPiece else { return }
        var number: Int?
        for start in 0...secret.count - Self.shortestPiece {
            for place in pieces[secret[start..<start + Self.shortestPiece]] ?? [] {
                if number == nil {
                    number = names.count
                    names.append(name)
                }
                // What several secrets have in common, such as their header, goes by the one that covers most.
                for index in place..<place + Self.shortestPiece { covered[index] = number }
            }
        }
    }

    /// The lines with names in the place of secrets; lines of which nothing is left are dropped.
    package var filtered: [String] {
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
