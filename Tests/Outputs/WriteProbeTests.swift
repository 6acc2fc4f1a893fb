import Failures
import Foundation
import Linux
import Model
import Outputs
import TestSupport
import Testing

/// What `check` foresees of writing a file.
@Suite(.needs(.root)) struct WriteProbeTests {
    private static let daemon = Identity(user: 64_001, group: 64_001)

    /// The failure's code with a directory of the daemon's that has this group and mode.
    private func code(directory group: Int, mode: Int, file: Int? = nil, wanted: String? = nil) throws -> Failure.Code?
    {
        let scratch = try TemporaryDirectory()
        func give(_ path: String, _ group: Int, _ mode: Int) throws {
            try FileManager.default.setAttributes(
                [.ownerAccountID: Int(Self.daemon.user), .groupOwnerAccountID: group], ofItemAtPath: path)
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        }
        if let file {
            try scratch.write("", to: "web.jwt")
            try give(scratch("web.jwt"), file, 0o640)
        }
        try give(scratch.path, group, mode)
        return WriteProbe.failure(
            of: try Samples.file(scratch("web.jwt"), group: wanted), as: Self.daemon)?.code
    }

    @Test func aDirectoryGivesItsGroupWhereItSaysSo() throws {
        #expect(try code(directory: 10_001, mode: 0o2750, file: 10_001) == nil)
        #expect(try code(directory: 10_001, mode: 0o2750, wanted: "10001") == nil)
        #expect(try code(directory: 10_001, mode: 0o750, file: 10_001) == .groupNotPermitted)
        #expect(try code(directory: 10_001, mode: 0o750, wanted: "10001") == .groupNotPermitted)
        #expect(try code(directory: 10_001, mode: 0o2750, file: 10_002) == .groupNotPermitted)
        #expect(try code(directory: 10_001, mode: 0o2750, wanted: "10002") == .groupNotPermitted)
        #expect(try code(directory: 64_001, mode: 0o700, file: 64_001) == nil)
    }
}
