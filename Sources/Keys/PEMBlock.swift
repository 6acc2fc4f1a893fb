internal import AppleClientSecret
internal import Failures
internal import Model

/// One block of a PEM text (RFC 7468): its label and the range of its base64.
///
/// Parsed by hand in secure memory. libcrypto's own reader leaves base64 of the key in ordinary memory, accepts other forms than
/// the expected one, and asks the terminal for passphrases.
struct PEMBlock {
    /// Such as `PRIVATE KEY`.
    let label: String
    private let body: Range<Int>
    /// Where the BEGIN line begins.
    private let start: Int
    /// After the END line.
    let end: Int

    /// From the BEGIN line to the END line.
    var range: Range<Int> { start..<end }

    /// Of the blocks that may be a key from Apple.
    static let keyLabels = ["PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "EC PRIVATE KEY"]

    /// More blocks than a key file with a whole chain of certificates has.
    private static let maximumBlocks = 16

    /// The longest label, in bytes; the longest that libcrypto knows has 26.
    private static let maximumLabelLength = 40

    private static let head = Array("-----BEGIN ".utf8)
    private static let foot = Array("-----END ".utf8)
    private static let dashes = Array("-----".utf8)

    /// Every block of `text`, at least one. Text around the blocks is skipped, as are a byte-order mark, carriage
    /// returns and blanks at the ends of lines.
    static func all(in text: borrowing SecureBuffer) throws(KeyError) -> [PEMBlock] {
        var blocks: [PEMBlock] = []
        var open: (label: String, line: Int, start: Int)?
        var position = text.starts(with: [0xEF, 0xBB, 0xBF], at: 0) ? 3 : 0
        while position < text.count {
            let line = text.line(from: position)
            position = line.next
            if text.starts(with: head, at: line.start) {
                guard open == nil else { throw KeyError(.keyTruncated) }
                guard let label = try label(in: text, from: line.start + head.count, to: line.end) else {
                    throw KeyError(position < text.count ? .keyMalformed : .keyTruncated)
                }
                open = (label, line.start, line.next)
            } else if text.starts(with: foot, at: line.start) {
                // END without BEGIN: the beginning is missing.
                guard let (label, first, start) = open else { throw KeyError(.keyTruncated) }
                guard let end = try Self.label(in: text, from: line.start + foot.count, to: line.end) else {
                    throw KeyError(.keyTruncated)
                }
                guard end == label else {
                    throw KeyError(.keyMalformed, "it begins as \(label) and ends as \(end)")
                }
                guard blocks.count < maximumBlocks else {
                    throw KeyError(.keyMalformed, "it holds more than \(maximumBlocks) PEM blocks")
                }
                blocks.append(PEMBlock(label: label, body: start..<line.start, start: first, end: line.next))
                open = nil
            }
        }
        guard open == nil else { throw KeyError(.keyTruncated) }
        guard !blocks.isEmpty else { throw keyError(ofForeign: text) }
        return blocks
    }

    /// The error for a text without any block.
    private static func keyError(ofForeign text: borrowing SecureBuffer) -> KeyError {
        for index in 0..<text.count where text[index] > 32 { return KeyError(.keyNotPEM) }
        return KeyError(.keyEmpty)
    }

    /// The label at `start`, closed by dashes; nil when there is none. Throws when text follows the dashes.
    private static func label(
        in text: borrowing SecureBuffer, from start: Int, to end: Int
    ) throws(KeyError) -> String? {
        var label: [UInt8] = []
        var index = start
        while index < end, text[index] != UInt8(ascii: "-") {
            let byte = text[index]
            guard byte == 32 || byte.isASCIIDigit || byte.isASCIICapital, label.count < maximumLabelLength else {
                return nil
            }
            label.append(byte)
            index += 1
        }
        guard !label.isEmpty, text.starts(with: dashes, at: index), index + dashes.count <= end else { return nil }
        if index + dashes.count < end { throw KeyError(.keyMalformed, "other text is on its BEGIN or END line") }
        return String(decoding: label, as: UTF8.self)
    }

    /// Whether the block is encrypted as a whole (RFC 1421, section 4.6.1.1), as old tools write SEC1.
    func isEncrypted(in text: borrowing SecureBuffer) -> Bool {
        text.starts(with: Array("Proc-Type:".utf8), at: text.line(from: body.lowerBound).start)
    }

    /// The bytes of the base64 in a range; nil if it is damaged.
    ///
    /// - Parameter isPadded: false also decodes text without padding, as base64url has none.
    static func decode(
        _ text: borrowing SecureBuffer, _ range: Range<Int>, isPadded: Bool = true
    ) -> SecureBuffer? {
        do throws(KeyError) {
            let block = PEMBlock(label: "", body: range, start: range.lowerBound, end: range.upperBound)
            return try block.decoded(from: text, isPadded: isPadded)
        } catch {
            return nil
        }
    }

    /// The bytes decoded from the block's base64 (RFC 4648, section 4, with padding), in secure memory.
    func decoded(from text: borrowing SecureBuffer, isPadded: Bool = true) throws(KeyError) -> SecureBuffer {
        guard var bytes = SecureBuffer(capacity: max(1, body.count * 3 / 4)) else { throw KeyError(.outOfMemory) }
        var group: UInt32 = 0
        var digits = 0
        var padding = 0
        for index in body {
            let byte = text[index]
            if byte.isASCIISpace { continue }
            if byte == UInt8(ascii: "=") {
                padding += 1
                continue
            }
            guard let value = Base64.Alphabet.standard.value(of: byte), padding == 0 else {
                throw KeyError(.keyMalformed, "its base64 is damaged")
            }
            group = group << 6 | UInt32(value)
            digits += 1
            if digits % 4 == 0 {
                for shift in [UInt32(16), 8, 0] { bytes.append(UInt8(truncatingIfNeeded: group >> shift)) }
                group = 0
            }
        }
        if !isPadded, padding == 0, digits % 4 > 1 { padding = 4 - digits % 4 }
        guard digits > 0, (digits + padding) % 4 == 0, padding <= 2 else { throw KeyError(.keyTruncated) }
        if padding == 2 { bytes.append(UInt8(truncatingIfNeeded: group >> 4)) }
        if padding == 1 { for shift in [UInt32(10), 2] { bytes.append(UInt8(truncatingIfNeeded: group >> shift)) } }
        return bytes
    }
}

extension SecureBuffer {
    func starts(with bytes: [UInt8], at start: Int) -> Bool {
        guard start + bytes.count <= count else { return false }
        return bytes.indices.allSatisfy { self[start + $0] == bytes[$0] }
    }

    /// The line that begins at `position`, without the blanks at its ends, and the beginning of the next one.
    func line(from position: Int) -> (start: Int, end: Int, next: Int) {
        var end = position
        while end < count, self[end] != UInt8(ascii: "\n") { end += 1 }
        let next = min(end + 1, count)
        var start = position
        while start < end, self[start] <= 32 { start += 1 }
        while end > start, self[end - 1] <= 32 { end -= 1 }
        return (start, end, next)
    }
}
