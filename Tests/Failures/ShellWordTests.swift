import Failures
import Foundation
import TestSupport
import Testing

@Suite struct ShellWordTests {
    @Test func aShellReadsBackWhatWasQuoted() throws {
        let words = ["a b", "it's", "$(id)", "`id`", "a;b", "*", "~", "#", "é", "\"", "\\", "line\nbreak", "!", ""]
        let command = "printf '%s\\0' " + words.map(ShellWord.quoted).joined(separator: " ")
        #expect(try run(["sh", "-c", command]).output == words.map { $0 + "\0" }.joined())
    }
}
