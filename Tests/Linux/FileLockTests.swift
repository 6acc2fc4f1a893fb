import Foundation
import Linux
import TestSupport
import Testing

@Suite struct FileLockTests {
    @Test func theHolderIsKnownWhileItHoldsTheLock() throws {
        let directory = try TemporaryDirectory()
        #expect(FileLock.holder(of: directory("lock")) == nil)
        do {
            let lock = try FileLock.take(directory("lock"), waiting: 0)
            #expect(FileLock.holder(of: directory("lock")) == getpid())
            withExtendedLifetime(lock) {}
        }
        // A child that another test starts at this moment keeps the lock until it calls exec.
        #expect(eventually { FileLock.holder(of: directory("lock")) == nil })
    }

    /// A process killed while it starts a program leaves the lock with the forked child until that calls exec.
    @Test func aLockThatIsLetGoSoonIsWaitedFor() throws {
        let directory = try TemporaryDirectory()
        let holder = try Background(["flock", directory("lock"), "sh", "-c", "echo held; sleep 0.2"])
        #expect(holder.firstLine == "held")
        if try FileLock.take(directory("lock"), waiting: 10_000) == nil { Issue.record("it was let go soon") }
    }
}
