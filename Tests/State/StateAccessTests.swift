import AppleClientSecret
import Failures
import Foundation
import Linux
import Model
import Outputs
import TestSupport
import Testing

@testable import State

/// A state directory that changes after it was opened.
@Suite(.waits) struct StateAccessTests {
    private let scratch: TemporaryDirectory
    private let path: AbsolutePath
    private let web: ClientName

    init() throws {
        scratch = try TemporaryDirectory()
        path = try #require(AbsolutePath(scratch("state")))
        web = try #require(ClientName("web"))
    }

    private func open() throws(Failure) -> StateDirectory {
        try StateDirectory.open(path, as: .current())
    }

    /// Access to it that counts how often it was lost; opened, even where the first try takes longer than a start waits.
    private func listener(_ lost: Losses = Losses()) throws -> StateAccess {
        let access = try access(lost)
        _ = try access.get()
        return access
    }

    /// The same, which need not succeed.
    private func access(_ lost: Losses = Losses()) throws -> StateAccess {
        let lock = StateLock()
        return try StateAccess(
            at: path, as: .current(),
            open: { path, former in
                if lost.isHidden.withLock({ $0 }) { return .failure(Failure(.outsideSandbox, at: .path(path))) }
                do throws(Failure) {
                    return .success(
                        try StateDirectory.open(
                            path, as: .current(), after: former, locking: lock))
                } catch {
                    return .failure(error)
                }
            }, isHidden: { _ in lost.isHidden.withLock { $0 } }, lost: { _ in lost.count.withLock { $0 += 1 } })
    }

    /// Whether using it succeeds at last: a failed try is repeated a second later at the earliest.
    private func eventually(_ condition: () throws -> Bool) -> Bool {
        TestSupport.eventually { (try? condition()) == true }
    }

    private final class Losses: Sendable {
        let count = QuietMutex(0)
        let isHidden = QuietMutex(false)
        var sum: Int { count.withLock { $0 } }
    }

    private func remove(_ name: String) throws {
        try FileManager.default.removeItem(atPath: scratch(name))
    }

    private func make(_ name: String) throws {
        try scratch.folder(name, mode: 0o700)
    }

    /// Whether the directory that is there now is locked.
    private var isLocked: Bool {
        do {
            _ = try open()
            return false
        } catch {
            return error.code == .stateLocked
        }
    }

    @Test(arguments: ["emptied", "made anew", "replaced by a backup", "without its lock", "without its clients"])
    func oneThatIs(_ what: String) throws {
        let losses = Losses()
        let listener = try listener(losses)
        let state = try listener.get()
        let tag = state.naming.tag
        switch what {
        case "emptied":
            for name in ["clients", "lock", "temporaries"] { try remove("state/\(name)") }
        case "made anew":
            try remove("state")
            try make("state")
        case "replaced by a backup":
            try FileManager.default.moveItem(atPath: scratch("state"), toPath: scratch("away"))
            do { _ = try open() }
            #expect(try scratch.read("state/temporaries") != tag)
        case "without its lock": try remove("state/lock")
        default: try remove("state/clients")
        }
        listener.checkInPlace()
        let anew = try listener.get()
        #expect(anew !== state && losses.sum == 1)
        try anew.keep(RecordWithSecrets(), of: web)
        #expect(FileManager.default.fileExists(atPath: scratch("state/clients/web.state")))
        #expect(try scratch.read("state/temporaries") == tag)
        #expect(isLocked)
        listener.checkInPlace()
        #expect(try listener.get() === anew && losses.sum == 1)
    }

    @Test func aLostDirectoryIsNoticedSoon() throws {
        let listener = try listener()
        let state = try listener.get()
        try remove("state")
        #expect(eventually { try listener.get() !== state })
    }

    @Test func oneThatAnotherHoldsIsWaitedFor() throws {
        let losses = Losses()
        let listener = try listener(losses)
        try remove("state")
        do {
            let other = try open()
            listener.checkInPlace()
            #expect(throws: Failure(.stateLocked, at: .path(path))) { _ = try listener.get() }
            withExtendedLifetime(other) {}
        }
        #expect(eventually { try listener.get().isInPlace })
        #expect(isLocked)
        #expect(losses.sum == 1)
    }

    /// As where systemd says late that nothing outlives the process there.
    @Test func oneThatTurnsOutToBeHiddenIsUsedNoLonger() throws {
        let losses = Losses()
        let listener = try listener(losses)
        listener.checkInPlace()
        #expect(losses.sum == 0)
        losses.isHidden.withLock { $0 = true }
        listener.checkInPlace()
        #expect(losses.sum == 1)
        #expect(throws: Failure(.outsideSandbox, at: .path(path))) { _ = try listener.get() }
    }

    /// The first sign must not be that nothing is remembered months later.
    @Test func oneThatMayNotBeUsedAnyMoreIsUsedNoLonger() throws {
        let losses = Losses()
        let listener = try listener(losses)
        try scratch.permit(0o777, "state")
        listener.checkInPlace()
        #expect(code(listener) == .stateUnusable && losses.sum == 1)
        #expect(isLocked)
        try scratch.permit(0o700, "state")
        #expect(eventually { try listener.get().isInPlace })
        #expect(isLocked && losses.sum == 1)
    }

    @Test func aDirectoryOutOfReachForAWhileStaysLocked() throws {
        let listener = try listener()
        try FileManager.default.moveItem(atPath: scratch("state"), toPath: scratch("away"))
        try scratch.write("", to: "state")
        listener.checkInPlace()
        #expect(throws: Failure.self) { _ = try listener.get() }
        try remove("state")
        try FileManager.default.moveItem(atPath: scratch("away"), toPath: scratch("state"))
        #expect(isLocked)
        #expect(eventually { try listener.get().isInPlace })
        #expect(isLocked)
    }

    /// A reload that comes later reserves it by its real path again.
    @Test func oneThatIsOnlySlowAtTheStartIsNotSilentForEver() throws {
        let isReady = try EventCounter()
        let access = try StateAccess(
            at: path, as: .current(),
            open: { path, former in
                guard isReady.wait(atMost: 60_000) else { return .failure(Failure(.notResponding, at: .path(path))) }
                do throws(Failure) {
                    return .success(try StateDirectory.open(path, as: .current(), after: former, locking: StateLock()))
                } catch {
                    return .failure(error)
                }
            }, lost: { _ in })
        #expect(access.isSilent)
        isReady.signal()
        #expect(eventually { !access.isSilent })
        #expect(try access.get().isInPlace)
    }

    /// As when a reload names it.
    @Test func anotherOneTakesItsPlace() throws {
        let losses = Losses()
        let listener = try listener(losses)
        let tag = try listener.get().naming.tag
        let other = try #require(AbsolutePath(scratch("other")))
        listener.follow(other)
        #expect(try listener.get().path == other && losses.sum == 1)
        #expect(try scratch.read("other/temporaries") == tag)
        #expect(throws: Failure(.stateLocked, at: .path(other))) { _ = try StateDirectory.open(other, as: .current()) }
        #expect(!isLocked)
        listener.follow(other)
        #expect(losses.sum == 1)
    }

    private func code(_ access: StateAccess) -> Failure.Code? {
        if case .failure(let failure) = access.last { failure.code } else { nil }
    }

    /// Two daemons of one configuration would undo each other's work.
    @Test(.needs(.root), arguments: ["another user's", "open to others", "without room", "with a folder for a lock"])
    func oneThatCannotBeUsedIsOneDaemonsAllTheSame(_ what: String) throws {
        switch what {
        case "another user's":
            try scratch.folder("state")
            try #require(run(["chown", "daemon", path.description]).status == 0)
        case "open to others": try scratch.folder("state", mode: 0o777)
        case "without room":
            try make("state")
            try scratch.write("", to: "state/clients")
        default:
            try make("state")
            try scratch.folder("state/lock")
        }
        let first = try access()
        #expect(code(first) == .stateUnusable)
        #expect(code(try access()) == .stateLocked)
        #expect(eventually { code(first) == .stateUnusable && (try? first.get()) == nil })
        #expect(code(try access()) == .stateLocked)
        try remove("state")
        #expect(eventually { try first.get().isInPlace })
        #expect(isLocked)
    }

    /// A mistake in /etc/fstab must not cost the secrets that are there.
    @Test(.needs(.root)) func oneThatIsMountedReadOnlyIsStillRead() throws {
        let run = ClockRun(since: BootTime(milliseconds: 1_000))
        var (tag, instance) = ("", "")
        do {
            let state = try open()
            (tag, instance) = (state.naming.tag, try state.instance())
            state.keep(run)
            try state.keep(RecordWithSecrets(current: try Samples.kept()), of: web)
            try state.keep(ReportedStates())
        }
        #expect(try access().unopened == nil)
        try #require(TestSupport.run(["mount", "--bind", path.description, path.description]).status == 0)
        defer { _ = try? TestSupport.run(["umount", path.description]) }
        try #require(TestSupport.run(["mount", "-o", "remount,bind,ro", path.description]).status == 0)
        let access = try access()
        let failure = #expect(throws: Failure.self) { _ = try access.get() }
        #expect(failure?.code == .stateUnusable)
        #expect(
            failure?.remedy?.description
                == "the mount at \(path) is read-only here: mount it writable and restart the daemon, or name another directory "
                + "as \"state_dir\"")
        #expect(StateDirectory.problem(with: path, as: .current())?.remedy == failure?.remedy)
        let files = try #require(access.unopened)
        #expect(try files.recall(web)?.record.current == (try Samples.kept().secret.issued))
        #expect(try files.readReportedStates() == ReportedStates())
        #expect(try files.readNaming()?.tag == tag && files.readInstance() == instance)
        #expect(files.readClock() == .running(run))
    }

    /// It remembers all records for clients with new outputs. By the next try, a disk may have been mounted there.
    @Test func oneThatCannotBeOpenedHasOneReaderForEachTry() throws {
        try make("state")
        try scratch.folder("state/lock")
        let access = try access()
        #expect(code(access) == .stateUnusable)
        let files = try #require(access.unopened)
        #expect(access.unopened === files)
        #expect(eventually { (try? access.get()) == nil && access.unopened !== files })
    }

    /// Anybody can lock what anybody can open.
    @Test(.needs(.root)) func aStrangersLockKeepsNoDaemonFromRunning() throws {
        try scratch.permit(0o755)
        try scratch.folder("state")
        try #require(run(["chown", "daemon", path.description]).status == 0)
        let words = ["setpriv", "--reuid=65534", "--clear-groups", "flock", "--no-fork", path.description]
        let stranger = try Background(words + ["sh", "-c", "echo locked; exec sleep 600"])
        #expect(stranger.firstLine == "locked")
        #expect(code(try access()) == .stateUnusable)
        withExtendedLifetime(stranger) {}
    }
}
