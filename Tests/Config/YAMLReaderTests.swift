import Testing

@testable import Config

@Suite struct YAMLReaderTests {
    /// What is said of bytes that are no text, at the byte that is wrong.
    @Test(arguments: [
        ([0x61, 0x3A, 0x20, 0x00], "y:1:4: error: a NUL byte; write plain text, saved as UTF-8"),
        ([0x61, 0x3A, 0x0A, 0x20, 0x62, 0x1B], "y:2:3: error: a control character; write plain text, saved as UTF-8"),
        ([0xC3, 0xA4, 0x3A, 0x20, 0xFF], "y:1:4: error: not UTF-8; save the file as UTF-8 text"),
        ([0x0D, 0x0A, 0x0D, 0x0A, 0xE2, 0x82], "y:3:1: error: not UTF-8; save the file as UTF-8 text"),
        (
            [0x0D, 0x23, 0xC2, 0x85, 0x23, 0xE2, 0x80, 0xA8, 0x23, 0xC3, 0x28],
            "y:4:3: error: not UTF-8; save the file as UTF-8 text"
        ),
        ([0xEF, 0xBB, 0xBF, 0x61, 0x3A, 0x20, 0x80], "y:1:4: error: not UTF-8; save the file as UTF-8 text"),
        ([0x61, 0xED, 0xA0, 0x80], "y:1:2: error: not UTF-8; save the file as UTF-8 text"),
        ([0xFF, 0xFE, 0x61, 0x00], "y:1:1: error: not UTF-8; save the file as UTF-8 text"),
    ])
    func badBytesStandWhereTheyStand(bytes: [UInt8], said: String) {
        #expect(read(bytes).said == [said])
    }

    @Test func columnsCountCharacters() throws {
        let node = try #require(read(Array("\u{FEFF}ä: 日本\n\"ö ö\":   x".utf8)).root)
        guard case .mapping(let entries) = node.content else { throw Unexpected() }
        #expect(entries.map(\.key.position.description) == ["y:1:1", "y:2:1"])
        #expect(entries.map(\.value.position.description) == ["y:1:4", "y:2:10"])
    }

    @Test func scalarsStayText() throws {
        let text = "[12345E6789, 0640, yes, ~, 1:20, 2026-01-01, 0x10, '', \"\", x|]"
        let node = try #require(read(Array(text.utf8)).root)
        guard case .sequence(let items) = node.content else { throw Unexpected() }
        let texts = items.map { if case .scalar(let text) = $0.content { text } else { "?" } }
        #expect(texts == ["12345E6789", "0640", "yes", "~", "1:20", "2026-01-01", "0x10", "", "", "x|"])
    }

    @Test func nestingHasALimit() {
        func nested(_ depth: Int) -> [UInt8] {
            Array((String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8)
        }
        #expect(read(nested(YAMLReader.maximumDepth)).said.isEmpty)
        #expect(
            read(nested(YAMLReader.maximumDepth + 1)).said
                == ["y:1:17: error: nested more than 16 deep; no setting needs that"])
        // The parser below has limits of its own; a stack that overflows would end the test.
        #expect(read(nested(100_000)).said.count == 1)
        #expect(read(Array(String(repeating: "- ", count: 100_000).utf8)).said.count == 1)
        #expect(read(Array(String(repeating: "? ", count: 100_000).utf8)).said.count == 1)
    }

    @Test func valuesHaveALimit() {
        let list = "[" + String(repeating: "a,", count: YAMLReader.maximumNodes - 1) + "]"
        #expect(read(Array(list.utf8)).said.isEmpty)
        #expect(
            read(Array(("[a," + list.dropFirst()).utf8)).said
                == ["y:1:200000: error: more than 100000 values; move clients to files of the .d directory"])
    }

    @Test func sizeHasALimit() {
        let full = [UInt8](repeating: UInt8(ascii: "#"), count: YAMLReader.maximumSize)
        #expect(read(full).said.isEmpty)
        #expect(
            read(full + [UInt8(ascii: "#")]).said
                == ["y:1:1: error: larger than 1 MiB; move clients to files of the .d directory"])
    }

    private struct Unexpected: Error {}

    private func read(_ bytes: [UInt8]) -> (root: YAMLNode?, said: [String]) {
        let diagnostics = Diagnostics()
        let root = YAMLReader.read(bytes, file: "y", diagnostics: diagnostics)
        return (root, diagnostics.sorted(main: "y").map(\.description))
    }
}
