import Foundation
import TestSupport
import Testing

/// No core dump and no look by another process of the same user: before the first key is read, not after.
@Suite(.waits, .needs(.tools)) struct MemoryProtectionTests {
    @Test(arguments: [["run", "--once"], ["check"], ["mint", "web"]])
    func isForbiddenBeforeAKeyIsOpened(arguments: [String]) throws {
        let sandbox = try Sandbox(clients: "web")
        let tracing = ["strace", "-f", "-qq", "-o", sandbox.directory("trace"), "-e", "trace=prctl,openat,openat2"]
        try runToSuccess(tracing + [sandbox.binary] + arguments + ["--config", sandbox.configuration])
        let lines = try sandbox.directory.read("trace").components(separatedBy: "\n")
        let forbidden = try #require(lines.firstIndex { $0.contains("PR_SET_DUMPABLE, SUID_DUMP_DISABLE") })
        let opened = try #require(lines.firstIndex { $0.contains("AuthKey_ABC123DEFG.p8") })
        #expect(forbidden < opened)
    }
}
