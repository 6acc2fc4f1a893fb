import Glibc
import Linux
import TestSupport
import Testing

@Suite struct ProcessLookTests {
    private func look(bytes: Int = 100, milliseconds: Int64 = 600_000) -> ProcessLook {
        ProcessLook(bytes: bytes, milliseconds: milliseconds)
    }

    @Test func readsAsMuchAsItMay() throws {
        let directory = try TemporaryDirectory()
        try directory.write(String(repeating: "a", count: 60), to: "file")
        let look = look()
        #expect(look.read(directory("file"), limit: 50, isSkippedIfLonger: true) == nil)
        #expect(look.read(directory("none"), limit: 60) == nil)
        #expect(look.read(directory("file"), limit: 60)?.count == 60)
        #expect(look.goesOn && !look.isCut)
        #expect(look.read(directory("file"), limit: 60) == nil)
        #expect(!look.goesOn && look.isCut && ProcessLook.shortfall != nil)
    }

    @Test func whatIsTooLongIsLeftOut() throws {
        let directory = try TemporaryDirectory()
        try directory.write(String(repeating: "a", count: 60), to: "file")
        let look = look()
        #expect(look.read(directory("file"), limit: 50) == nil)
        #expect(look.goesOn && look.isCut)
    }

    @Test(.needs(.root)) func whatItMayNotLookIntoIsNoted() throws {
        let process = try Background(["sh", "-c", "echo ready; read line"])
        let folder = "/proc/\(process.processID)"
        let own = look(bytes: 1 << 20)
        #expect(!own.isForbidden("\(folder)/environ") && own.link("\(folder)/ns/mnt") != nil)
        #expect(!own.isForbidden("\(folder)/none"))
        let isForbidden = try acting(as: Room.otherIdentity) { ProcessLook().isForbidden("\(folder)/environ") }
        let link = try acting(as: Room.otherIdentity) { ProcessLook().link("\(folder)/ns/mnt") }
        #expect(isForbidden && link == nil)
        #expect(ProcessLook.restriction != nil)
    }

    @Test func endsInTime() {
        let look = look(milliseconds: 0)
        #expect(!look.goesOn && look.isCut)
    }

    @Test func beginsWithWhatMattersMost() throws {
        let all = look().processes()
        #expect(all == all.sorted() && all.first != getpid())
        // Another process might have ended by then.
        #expect(look().processes(first: [getpid()]).first == getpid())
    }
}
