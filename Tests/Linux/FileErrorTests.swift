import Failures
import Linux
import SystemPackage
import Testing

/// Commands print errors of files as they are, also those that no rule explains.
@Suite struct FileErrorTests {
    @Test(arguments: FailureCode.allCases) func isDescribedInWordsAndNotByItsCode(_ code: FailureCode) {
        let words = FileError(code, at: "/srv/app/file", errno: .ioError, detail: "why").description
        #expect(words.hasPrefix("/srv/app/file: \(code.words): why ("))
        #expect(!code.rawValue.contains("_") || !words.contains(code.rawValue))
    }

    @Test func endsWithTheRemedyOfTheError() {
        let error = FileError(.changedMeanwhile, at: "/srv/app/file", remedy: .say("stop the other program"))
        #expect(error.description == "/srv/app/file: \(error.code.words); stop the other program")
    }

    /// Which limit on open files was reached, only the number tells.
    @Test func namesTheLimitThatWasReached() {
        func words(_ errno: Errno) -> String {
            FileError(.outOfDescriptors, at: "/srv/app/file", errno: errno).description
        }
        #expect(words(.tooManyOpenFiles).contains("raise LimitNOFILE="))
        #expect(words(.tooManyOpenFilesInSystem).contains("raise the sysctl fs.file-max"))
    }
}
