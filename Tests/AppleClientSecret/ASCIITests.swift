import AppleClientSecret
import Testing

@Suite struct ASCIITests {
    /// Each class beside all of its characters, written out.
    @Test(arguments: [
        ("digit", "0123456789"), ("capital", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
        ("letter", "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"),
        ("alphanumeric", "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"), ("blank", " \t"),
        ("space", " \t\n\u{B}\u{C}\r"),
        (
            "visible",
            ##"!"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\]^_`abcdefghijklmnopqrstuvwxyz{|}~"##
        ),
        (
            "printable",
            ##" !"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\]^_`abcdefghijklmnopqrstuvwxyz{|}~"##
        ),
    ])
    func aClassHoldsTheseBytesAndNoOther(name: String, characters: String) throws {
        let classes: [String: (UInt8) -> Bool] = [
            "digit": \.isASCIIDigit, "capital": \.isASCIICapital, "letter": \.isASCIILetter,
            "alphanumeric": \.isASCIIAlphanumeric, "blank": \.isASCIIBlank, "space": \.isASCIISpace,
            "visible": \.isASCIIVisible, "printable": \.isASCIIPrintable,
        ]
        let holds = try #require(classes[name])
        for byte in UInt8.min ... .max { #expect(holds(byte) == characters.utf8.contains(byte), "\(byte)") }
    }

    @Test func onlyCapitalsHaveSmallLetters() {
        #expect("AZaz09@[`{é".utf8.map(\.asciiLowercased).elementsEqual("azaz09@[`{é".utf8))
    }
}
