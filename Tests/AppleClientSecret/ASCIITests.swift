import AppleClientSecret
import Testing

@Suite struct ASCIITests {
    @Test func aClassHoldsItsBytesAndNoOther() {
        let digits = Set<UInt8>(48...57)
        let capitals = Set<UInt8>(65...90)
        let letters = capitals.union(97...122)
        for byte in UInt8.min ... .max {
            #expect(byte.isASCIIDigit == digits.contains(byte), "\(byte)")
            #expect(byte.isASCIICapital == capitals.contains(byte), "\(byte)")
            #expect(byte.isASCIILetter == letters.contains(byte), "\(byte)")
            #expect(byte.isASCIIAlphanumeric == letters.union(digits).contains(byte), "\(byte)")
            #expect(byte.isASCIIBlank == (byte == 9 || byte == 32), "\(byte)")
            #expect(byte.isASCIISpace == (byte == 32 || (9...13).contains(byte)), "\(byte)")
            #expect(byte.isASCIIVisible == (33...126).contains(byte), "\(byte)")
            #expect(byte.isASCIIPrintable == (32...126).contains(byte), "\(byte)")
            #expect(byte.asciiLowercased == (capitals.contains(byte) ? byte + 32 : byte), "\(byte)")
        }
    }
}
