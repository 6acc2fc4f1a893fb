import Foundation
import Linux
import TestSupport
import Testing

@Suite struct HeldFileTests {
    @Test func isNotInPlaceWhereAnotherLies() throws {
        let scratch = try TemporaryDirectory()
        try scratch.folder("held", mode: 0o700)
        let held = try HeldFile(directory: scratch("held"), as: .current())
        // Many times: a free inode number is soon reused.
        for _ in 0..<50 {
            try FileManager.default.removeItem(atPath: scratch("held"))
            #expect(!held.isInPlace)
            try scratch.folder("held", mode: 0o700)
            #expect(!held.isInPlace)
        }
    }
}
