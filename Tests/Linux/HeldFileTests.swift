import Failures
import Foundation
import Linux
import TestSupport
import Testing

@Suite struct HeldFileTests {
    private let scratch: TemporaryDirectory

    init() throws {
        scratch = try TemporaryDirectory()
        try makeDirectory("held")
    }

    private func makeDirectory(_ name: String) throws {
        try scratch.folder(name, mode: 0o700)
    }

    private func hold() throws -> HeldFile { try HeldFile(directory: scratch("held"), as: .current()) }

    @Test func isNotInPlaceWhereAnotherLies() throws {
        let held = try hold()
        // Many times: a free inode number is soon reused.
        for _ in 0..<50 {
            try FileManager.default.removeItem(atPath: scratch("held"))
            #expect(!held.isInPlace)
            try makeDirectory("held")
            #expect(!held.isInPlace)
        }
    }

    @Test func isInPlaceAgainWhenItCameBack() throws {
        let held = try hold()
        try FileManager.default.moveItem(atPath: scratch("held"), toPath: scratch("away"))
        #expect(!held.isInPlace)
        try FileManager.default.moveItem(atPath: scratch("away"), toPath: scratch("held"))
        #expect(held.isInPlace)
    }

    @Test func aMissingFileCannotBeHeld() throws {
        #expect(throws: FileError.self) { _ = try HeldFile(directory: scratch("none"), as: .current()) }
    }
}
