import Signing
import Testing

/// A private key told by its digits alone.
@Suite struct PrintedKeyTests {
    /// The key of RFC 6979, section A.2.5, and its point.
    private let number = "C9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721"
    private let point =
        "0460FED4BA255A9D31C961EB74C6356D68C049B8923B61FA6CE669622E60F29FB6"
        + "7903FE1008B8BC99A41AE9E95628BC64F2F1B20C2D7E9F5177A3C294D4462299"

    @Test func aKeyIsToldByItsPoint() {
        for digits in [number, number.lowercased()] {
            #expect(PublicKey.point(ofPrivateKey: Array(digits.utf8)) == bytes(point))
        }
    }

    @Test func whatIsNoKeyHasNone() {
        let order = "FFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551"
        for text in [
            "", "1", String(number.dropLast()), number + "00", "x" + number.dropFirst(),
            String(repeating: "0", count: 64),
            order,
        ] {
            #expect(PublicKey.point(ofPrivateKey: Array(text.utf8)) == nil, "\(text)")
        }
    }
}
