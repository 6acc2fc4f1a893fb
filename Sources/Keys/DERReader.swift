/// Reads the elements of a DER encoding (X.690) one after the other, within the bounds of the element that holds them.
/// Fails at a length that exceeds those bounds or takes more than two bytes.
struct DERReader {
    /// X.690 tags, each encoded in one byte.
    enum Tag {
        static let integer: UInt8 = 0x02
        static let bitString: UInt8 = 0x03
        static let octetString: UInt8 = 0x04
        static let objectIdentifier: UInt8 = 0x06
        static let sequence: UInt8 = 0x30
        static let context0: UInt8 = 0xA0
        static let context1: UInt8 = 0xA1
        static let primitiveContext1: UInt8 = 0x81
    }

    private(set) var rest: Range<Int>

    init(_ range: Range<Int>) {
        rest = range
    }

    var isAtEnd: Bool { rest.isEmpty }

    /// Whether the bytes are one SEQUENCE and nothing else.
    static func isSequence(_ der: borrowing SecureBuffer) -> Bool {
        var reader = DERReader(0..<der.count)
        return reader.take(Tag.sequence, in: der) != nil && reader.isAtEnd
    }

    /// The tag of the next element; nil at the end.
    func nextTag(in der: borrowing SecureBuffer) -> UInt8? {
        rest.isEmpty ? nil : der[rest.lowerBound]
    }

    /// The range of the next element's content, if it has this tag; the reader then moves past it.
    mutating func take(_ tag: UInt8, in der: borrowing SecureBuffer) -> Range<Int>? {
        guard rest.count >= 2, der[rest.lowerBound] == tag else { return nil }
        var start = rest.lowerBound + 2
        var length = Int(der[rest.lowerBound + 1])
        if length >= 0x80 {
            let lengthBytes = length & 0x7F
            guard (1...2).contains(lengthBytes), start + lengthBytes <= rest.upperBound else { return nil }
            length = 0
            for index in start..<(start + lengthBytes) { length = length << 8 | Int(der[index]) }
            start += lengthBytes
            guard length >= (lengthBytes == 1 ? 0x80 : 0x100) else { return nil }
        }
        guard length <= rest.upperBound - start else { return nil }
        rest = (start + length)..<rest.upperBound
        return start..<(start + length)
    }

    /// The next element, if it is an INTEGER from 0 to 127.
    mutating func takeSmallInteger(in der: borrowing SecureBuffer) -> UInt8? {
        guard let content = take(Tag.integer, in: der), content.count == 1, der[content.lowerBound] < 0x80 else {
            return nil
        }
        return der[content.lowerBound]
    }
}
