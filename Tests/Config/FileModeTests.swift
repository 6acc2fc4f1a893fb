import Testing

@testable import Config

@Suite struct FileModeTests {
    @Test(arguments: [("640", 0o640), ("0640", 0o640), ("0o640", 0o640), ("7777", 0o7777), ("07777", 0o7777), ("0", 0)])
    func modes(text: String, mode: UInt16) {
        #expect(FileMode.bits(text) == mode)
    }

    @Test(arguments: ["", "8", "0x1a0", "10000", "000640", "0o", "-640", "6 40", "rw-"])
    func noModes(text: String) {
        #expect(FileMode.bits(text) == nil)
    }
}
