/// Cuts lines that a program printed off where bytes begin in them, one after the other as hexadecimal digits: so do
/// `openssl pkey -text`, `openssl asn1parse -dump`, xxd, od and hexdump show a private key.
///
/// Times, hardware and IPv6 addresses and fingerprints are no such bytes: they are short, or end without a colon.
struct PrintedBytes {
    /// What the line before leaves to be expected of the next one.
    private enum Before: Equatable {
        case nothing
        /// `priv:`, below which a private key stands.
        case label
        case bytes(Form)
    }

    private enum Form: Equatable {
        /// Pairs with colons between them, of which some are still to come: the last one has a colon behind it.
        case fold
        /// Pairs with colons between them below ``Before/label``.
        case labelled
        /// Groups with spaces between them, in one line as many as in the next.
        case dump(hasOffset: Bool)
    }

    /// Fewer pairs with colons are an address also where another colon stands behind them.
    private static let longestAddress = 8
    /// Fewer digits with spaces between them may be anything.
    private static let shortestDump = 16

    private typealias Word = ArraySlice<UInt8>

    private var before = Before.nothing

    /// The next line with a mark in the place of bytes and of what stands behind them; nil for one that only goes on with
    /// those of the line before.
    mutating func cutOff(_ line: String) -> String? {
        let bytes = Array(line.utf8)
        let words = bytes.split(whereSeparator: { " \t\"'`,\\".utf8.contains($0) })
        guard let (index, form) = start(words) else {
            before = words.last.map(Self.isLabel) ?? false ? .label : .nothing
            return line
        }
        defer { before = form.map(Before.bytes) ?? .nothing }
        if index == 0, case .bytes = before { return nil }
        return String(decoding: bytes[..<words[index].startIndex], as: UTF8.self) + "(hex)"
    }

    /// In which word bytes begin, and of what form the next line is if it goes on with them.
    private func start(_ words: [Word]) -> (index: Int, form: Form?)? {
        for index in words.indices {
            if let count = Self.pairs(words[index]) {
                let isOpen = words[index].last == UInt8(ascii: ":")
                let isLabelled =
                    index > 0 ? Self.isLabel(words[index - 1]) : before == .label || before == .bytes(.labelled)
                let goesOn = (isLabelled || before == .bytes(.fold)) && (count > 1 || words.count == 1)
                if goesOn || isOpen && count > Self.longestAddress {
                    let staysOpen = words.last?.last == UInt8(ascii: ":")
                    return (index, isLabelled ? .labelled : staysOpen ? .fold : nil)
                }
            }
            if let form = dump(words[index...]) { return (index, form) }
        }
        return nil
    }

    private func dump(_ words: ArraySlice<Word>) -> Form? {
        for hasOffset in [false, true] where !hasOffset || Self.hasOffset(words) {
            let groups = Groups(words.dropFirst(hasOffset ? 1 : 0))
            if words.startIndex == 0, before == .bytes(.dump(hasOffset: hasOffset)), groups.count > 0,
                hasOffset || groups.isAll
            {
                return .dump(hasOffset: hasOffset)
            }
            // Without a letter they are the numbers of a table, and fingerprints have groups of four.
            let isWide = groups.size == 4 ? hasOffset : groups.size == 2 || groups.size * groups.count >= 32
            if groups.hasLetter, groups.size * groups.count >= Self.shortestDump, isWide {
                return .dump(hasOffset: hasOffset)
            }
        }
        return nil
    }

    /// Words of equally many hexadecimal digits.
    private struct Groups {
        private(set) var size = 0
        private(set) var count = 0
        private(set) var hasLetter = false
        /// Whether no other word stands behind them.
        private(set) var isAll = true

        init(_ words: ArraySlice<Word>) {
            for word in words {
                let dash = UInt8(ascii: "-")
                // As BIO_dump of OpenSSL has them: behind the offset, and in the middle of a line.
                if word.elementsEqual([dash]), count == 0 { continue }
                let isHalved = word.count == 5 && word[word.startIndex + 2] == dash
                for group in isHalved ? [word.prefix(2), word.suffix(2)] : [word.trimmingNumberPrefix] {
                    guard [2, 4, 8, 16].contains(group.count), size == 0 || size == group.count,
                        group.allSatisfy(Redaction.isHexadecimal)
                    else {
                        isAll = false
                        return
                    }
                    size = group.count
                    count += 1
                    hasLetter = hasLetter || group.contains { $0 > UInt8(ascii: "9") }
                }
            }
        }
    }

    /// How many pairs of digits these are, with colons between them and perhaps one behind them; nil for any other word.
    private static func pairs(_ word: Word) -> Int? {
        let pairs = word.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        let count = pairs.last?.isEmpty ?? true ? pairs.count - 1 : pairs.count
        return count > 0 && pairs.prefix(count).allSatisfy { $0.count == 2 && $0.allSatisfy(Redaction.isHexadecimal) }
            ? count : nil
    }

    /// Whether the first word is the number of the first byte in its line: of four digits (openssl), behind which a dash
    /// stands, or with a colon (xxd), or of seven and more (od, hexdump).
    private static func hasOffset(_ words: ArraySlice<Word>) -> Bool {
        guard let word = words.first else { return false }
        let isMarked = word.last == UInt8(ascii: ":") || words.dropFirst().first?.elementsEqual("-".utf8) ?? false
        let digits = word.last == UInt8(ascii: ":") ? word.dropLast() : word
        return ((isMarked ? 4 : 7)...16).contains(digits.count) && digits.allSatisfy(Redaction.isHexadecimal)
    }

    private static func isLabel(_ word: Word) -> Bool {
        word.elementsEqual("priv:".utf8)
    }
}

extension ArraySlice<UInt8> {
    /// Without the `0x` of a number in C.
    fileprivate var trimmingNumberPrefix: ArraySlice<UInt8> { starts(with: "0x".utf8) ? dropFirst(2) : self }
}
