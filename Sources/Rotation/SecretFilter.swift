internal import AppleClientSecret

/// Removes whole client secrets from lines that a program has printed, plain or in base64, even if folded over several lines
/// or quoted: known ones by their bytes, others by what they state.
///
/// Pieces of a secret are not looked for here: ``Redaction/printed(_:)`` replaces whatever is long enough to be one.
package struct SecretFilter {
    /// How every compact JWS begins: base64url of `{"`.
    private static let beginning = Array("eyJ".utf8)

    private let lines: [[UInt8]]
    /// All bytes of the lines that may belong to a secret or its base64, and the line and column of each.
    private var text: [UInt8] = []
    private var places: [(line: Int, column: Int)] = []

    package init(_ lines: [String]) {
        self.lines = lines.map { Array($0.utf8) }
        for (number, line) in self.lines.enumerated() {
            for (column, byte) in line.enumerated() where Self.isOfASecret(byte) {
                text.append(byte)
                places.append((number, column))
            }
        }
    }

    /// The lines with each known secret replaced by a name; lines of which nothing is left are dropped.
    ///
    /// - Parameters:
    ///   - lengths: of the known secrets, in bytes.
    ///   - isCut: whether the last line may end in the middle of a secret: what may be the beginning of one is removed.
    ///   - name: what replaces these bytes if they are a known secret; nil if they are not.
    package func filtered(lengths: Set<Int>, isCut: Bool = false, name: ([UInt8]) -> String?) -> [String] {
        var replacements: [Int: [Int: String]] = [:]
        for (range, name) in found(lengths.sorted(by: >), isCut, name) {
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

    /// Where in ``text`` known secrets stand.
    private func found(
        _ lengths: [Int], _ isCut: Bool, _ name: ([UInt8]) -> String?
    ) -> [(range: Range<Int>, name: String)] {
        var found: [(Range<Int>, String)] = []
        Self.search(text, lengths, isCut, name) { range, name in found.append((range, name)) }
        // Base64 has four characters for three bytes; the text before the secret decides at which of them it begins.
        for phase in 0..<4 {
            let decoded = Self.decode(text.dropFirst(phase))
            Self.search(decoded, lengths, isCut, name) { range, name in
                let start = phase + range.lowerBound * 4 / 3
                found.append((start..<min(phase + (range.upperBound * 4 + 2) / 3, text.count), name))
            }
        }
        return found
    }

    private static func search(
        _ bytes: [UInt8], _ lengths: [Int], _ isCut: Bool, _ name: ([UInt8]) -> String?,
        _ body: (Range<Int>, String) -> Void
    ) {
        var start = 0
        while start + beginning.count <= bytes.count {
            var next = start + 1
            if bytes[start..<start + beginning.count].elementsEqual(beginning) {
                for length in lengths where start + length <= bytes.count {
                    guard let name = name(Array(bytes[start..<start + length])) else { continue }
                    body(start..<start + length, name)
                    next = start + length
                    break
                }
                if next == start + 1, let end = endOfUnknown(bytes, from: start) {
                    body(start..<end, "(a secret)")
                    next = end
                }
                if isCut, next == start + 1, let longest = lengths.first, start + longest > bytes.count {
                    return body(start..<bytes.count, "(part of a secret)")
                }
            }
            start = next
        }
    }

    /// Where a client secret ends that begins at `start` and is none of ours, such as one that was minted by hand; nil when
    /// there is none.
    private static func endOfUnknown(_ bytes: [UInt8], from start: Int) -> Int? {
        let dots = bytes[start...].prefix(Token.maximumLength).indices.lazy.filter { bytes[$0] == UInt8(ascii: ".") }
        guard let second = dots.dropFirst().first else { return nil }
        let end = second + 1 + (CompactJWS.signatureLength * 4 + 2) / 3
        guard end <= bytes.count, (try? CompactJWS(Array(bytes[start..<end])))?.claims != nil else { return nil }
        return end
    }

    /// Decodes base64; any character but a letter or a digit counts as `A`.
    private static func decode(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count * 3 / 4)
        var (buffer, bits): (UInt32, UInt32) = (0, 0)
        for character in text {
            let value: UInt8 =
                switch character {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
                case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a") + 26
                case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0") + 52
                // The base64 of a compact JWS, which is ASCII, never contains the alphabet's other two.
                default: 0
                }
            buffer = buffer << 6 | UInt32(value)
            bits += 6
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: buffer >> bits))
            }
        }
        return bytes
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
