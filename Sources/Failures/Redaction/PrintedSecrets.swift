internal import AppleClientSecret

/// Removes whole client secrets from lines that a program has printed, plain or in base64, even if folded over several lines or
/// quoted. It knows some by their bytes and others by their claims.
///
/// ``Redaction/printed(lineByLine:)`` handles pieces of a secret, and unknown secrets longer than ``CompactJWS/usualLength`` and
/// than every known one. It replaces everything that is long enough to be a piece.
package struct PrintedSecrets {
    private let lines: [[UInt8]]
    /// All bytes of the lines that may belong to a secret or its base64, and the line and column of each.
    private var text: [UInt8] = []
    private var places: [(line: Int, column: Int)] = []

    package init(_ lines: [String]) {
        self.lines = lines.map { Array($0.utf8) }
        for (number, line) in self.lines.enumerated() {
            for (column, byte) in line.enumerated() where byte.isTokenCharacter {
                text.append(byte)
                places.append((number, column))
            }
        }
    }

    /// The lines with each known secret replaced by a name; nil for each line of which nothing is left.
    ///
    /// - Parameters:
    ///   - lengths: of the known secrets, in bytes.
    ///   - isCut: whether the last line may end in the middle of a secret. Then a possible beginning of one is removed.
    ///   - name: the replacement for these bytes if they are a known secret; nil if they are not.
    package func replaced(lengths: Set<Int>, isCut: Bool = false, name: ([UInt8]) -> String?) -> [String?] {
        var replacements: [Int: [Int: String]] = [:]
        for (range, name) in found(lengths, isCut, name) {
            for place in places[range] { replacements[place.line, default: [:]][place.column] = "" }
            let first = places[range.lowerBound]
            replacements[first.line]?[first.column] = name
        }
        return lines.enumerated().map { number, line in
            guard let replaced = replacements[number] else { return String(decoding: line, as: UTF8.self) }
            var shown: [UInt8] = []
            for (column, byte) in line.enumerated() { shown += replaced[column].map { Array($0.utf8) } ?? [byte] }
            return shown.isEmpty ? nil : String(decoding: shown, as: UTF8.self)
        }
    }

    /// The positions of known secrets in ``text``.
    private func found(
        _ lengths: Set<Int>, _ isCut: Bool, _ name: ([UInt8]) -> String?
    ) -> [(range: Range<Int>, name: String)] {
        var found: [(Range<Int>, String)] = []
        Self.search(text, lengths, isCut, name) { range, name in found.append((range, name)) }
        // Base64 has four characters for three bytes; the text before the secret decides at which of them it begins.
        for phase in 0..<4 {
            let decoded = EchoDecoding(text).decodedBase64(phase: phase)
            Self.search(decoded.bytes, lengths, isCut, name) { range, name in
                let end = decoded.places[range.upperBound - 1].upperBound
                found.append((decoded.places[range.lowerBound].lowerBound..<end, name))
            }
        }
        return found
    }

    private static func search(
        _ bytes: [UInt8], _ lengths: Set<Int>, _ isCut: Bool, _ name: ([UInt8]) -> String?,
        _ body: (Range<Int>, String) -> Void
    ) {
        let limit = max(lengths.max() ?? 0, CompactJWS.usualLength)
        var position = 0
        for candidate in CompactJWS.candidates(in: bytes, upTo: limit) where candidate.lowerBound >= position {
            let secret = Array(bytes[candidate])
            if lengths.contains(secret.count), let name = name(secret) {
                body(candidate, name)
            } else if (try? CompactJWS(secret))?.claims != nil {
                // Not the daemon's, such as one that was minted by hand.
                body(candidate, "(a secret)")
            } else {
                continue
            }
            position = candidate.upperBound
        }
        guard isCut, let longest = lengths.max() else { return }
        let rest = bytes.indices.dropFirst(max(position, bytes.count - longest + 1))
        if let start = rest.first(where: { CompactJWS.seemsToBegin(bytes[$0...]) }) {
            body(start..<bytes.count, "(part of a secret)")
        }
    }
}
