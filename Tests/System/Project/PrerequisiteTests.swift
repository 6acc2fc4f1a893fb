import Foundation
import TestSupport
import Testing

/// What may be skipped, and where.
@Suite struct PrerequisiteTests {
    @Test func whatLacksFailsWhereNothingIsSkipped() throws {
        #expect(try Prerequisite.check(true, "needs root", isCI: true))
        #expect(try !Prerequisite.check(false, "needs root", isCI: false))
        let lack = #expect(throws: Prerequisite.self) { try Prerequisite.check(false, "needs root", isCI: true) }
        #expect(lack?.description == "needs root; nothing is skipped where CI=true")
    }

    /// There is one way to skip a test, and that one knows about CI.
    @Test func nothingElseIsSkipped() throws {
        let skipping = try Regex(#"\.enabled\(|\.disabled\(|Test\.cancel"#)
        let root = repository + "/Tests"
        let paths = try #require(FileManager.default.enumerator(atPath: root)).compactMap { $0 as? String }
        let sources = paths.filter { $0.hasSuffix(".swift") && !$0.contains("/Prerequisite") }
        #expect(sources.count > 100)
        for path in sources {
            let text = try String(contentsOfFile: root + "/" + path, encoding: .utf8)
            #expect(!text.contains(skipping), "\(path): skip by Prerequisite")
        }
    }
}
