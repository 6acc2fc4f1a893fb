import Glibc
import Linux
import TestSupport
import Testing

@testable import clientsecretd

@Suite struct OutputReadersTests {
    /// Of a file with this mode: whether its owner's processes count, those of its group, and anybody else's.
    @Test(arguments: [(0o600, [true, false, false]), (0o640, [true, true, false]), (0o644, [true, true, true])])
    func processesOfAllReadersAreLookedInto(mode: Int, expected: [Bool]) throws {
        let directory = try TemporaryDirectory()
        try directory.write("token", to: "out", mode: mode)
        let status = try #require(FileStatus.following(directory("out")))
        let readers = OutputReaders(of: [(path: directory("out"), status: status)])
        let stranger: UInt32 = 4_711
        #expect(readers.include(user: status.owner, groups: [stranger]) == expected[0])
        #expect(readers.include(user: stranger, groups: [stranger, status.group]) == expected[1])
        #expect(readers.include(user: stranger, groups: [stranger]) == expected[2])
    }
}
