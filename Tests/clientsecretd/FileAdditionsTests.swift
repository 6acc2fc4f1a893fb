import TestSupport
import Testing

@testable import clientsecretd

@Suite struct FileAdditionsTests {
    /// While a person reads what would be written, another program may write.
    @Test func linesThatWereAddedMeanwhileAreKept() throws {
        let directory = try TemporaryDirectory()
        let file = try directory.write("old\n", to: "rules")
        let additions = try FileAdditions([RequiredLines(path: file, lines: "new\n")])
        try directory.write("old\nmine\n", to: "rules")
        try additions.write()
        #expect(try directory.read("rules") == "old\nmine\nnew\n")
    }
}
