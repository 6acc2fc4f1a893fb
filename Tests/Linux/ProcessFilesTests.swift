import Foundation
import Linux
import Testing

/// The kernel's files about a process, whose name the process chooses itself.
@Suite struct ProcessFilesTests {
    @Test func theStatusTellsTheUserAndTheGroups() {
        let text = "Name:\tUid:\t0\nUid:\t5\t6\t7\t8\nGid:\t1\t33\t2\t3\nFDSize:\t64\nGroups:\t27 100 \nNStgid:\t9\n"
        let status = ProcessStatus(Array(text.utf8))
        #expect(status.user == 5)
        #expect(status.groups == [33, 27, 100])
        #expect(ProcessStatus(ofProcess: getpid())?.user == getuid())
        #expect(ProcessStatus([]).user == nil)
    }

    /// U+0600 and the parenthesis after it are one character.
    @Test(arguments: ["node", "a) S 1 2 3", "\u{600}", ""])
    func theStatisticsFollowTheName(name: String) {
        let fields = (4...52).map(String.init).joined(separator: " ")
        let statistics = ProcessStatistics(Array("7 (\(name)) S \(fields)\n".utf8))
        #expect(statistics?.ticks == 29)
        #expect(statistics?.threads == 20)
        #expect(statistics?.startedAt == 22)
        #expect(statistics?.virtualBytes == 23)
        #expect(statistics?.residentPages == 24)
    }

    @Test(arguments: [
        "", "7 (node", "7 (node) S 4 5", "7 (node) S 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23",
    ])
    func statisticsThatAreCutAreNone(text: String) {
        #expect(ProcessStatistics(Array(text.utf8)) == nil)
    }
}
