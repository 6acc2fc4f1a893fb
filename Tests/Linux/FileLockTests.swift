import Foundation
import Linux
import TestSupport
import Testing

@Suite struct FileLockTests {
    @Test func twoDoNotHoldIt() throws {
        let directory = try TemporaryDirectory()
        guard let first = try FileLock.take(directory("lock")) else {
            Issue.record("nobody held it")
            return
        }
        if try FileLock.take(directory("lock")) != nil { Issue.record("two hold it") }
        _ = first.raw
    }

    /// A process killed while it starts a program leaves the lock with the forked child until that calls exec.
    @Test func whatIsLetGoSoonIsWaitedFor() throws {
        let directory = try TemporaryDirectory()
        let holder = try Background(["flock", directory("lock"), "sh", "-c", "echo held; sleep 0.2"])
        #expect(holder.firstLine == "held")
        if try FileLock.take(directory("lock")) == nil { Issue.record("it was let go soon") }
    }
}
