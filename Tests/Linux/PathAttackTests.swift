import Failures
import Foundation
import Glibc
import Linux
import SystemPackage
import TestSupport
import Testing

/// While hundreds of publishes run, an attacker swaps components of the path: nothing outside the tree is read or
/// changed, and each publish succeeds on the real target or fails with an error that says why. Who wins how often is up
/// to the scheduler and not judged; the publishes go on until the attacker has had as many turns as the publisher.
@Suite(.needs(.root)) struct PathAttackTests {
    private static let publishes = 400
    private static let key = "PRIVATE KEY"

    /// Errors that a swapped component may cause. Anything else, a system error above all, is a defect.
    private static let clear: Set<FailureCode> = [
        .untrustedLink, .unguardedDirectory, .notADirectory, .directoryMissing, .isDirectory, .notARegularFile,
        .fileTooLarge, .foreignOwner, .changedMeanwhile, .tooManyLinks,
    ]

    /// The real directories `a/b` with the target `f` in them, and things to put in their place.
    private static func stage() throws -> Room {
        let room = try Room(in: "/dev/shm")
        for folder in ["a", "a/b", "outside", "outside/b", "loot"] { try room.folder(folder) }
        for file in ["outside/f", "outside/b/f", "key"] { try room.file(file, key) }
        try room.file("a/b/f")
        try room.link("loot/link", to: room("outside"), owner: Room.otherUser)
        try room.link("loot/deep", to: room("outside/b"), owner: Room.otherUser)
        try room.link("loot/loop", to: room("loot/loop"))
        try room.fifo("loot/fifo")
        try room.file("loot/file", key)
        try room.folder("loot/theirs", owner: Room.otherUser)
        try room.folder("loot/theirs/b")
        try room.file("loot/theirs/f", key)
        try room.folder("loot/open", mode: 0o777)
        try room.file("loot/open/f", key)
        return room
    }

    @Test(arguments: ["a", "a/b"])
    func swappedDirectoriesLeadNowhere(component: String) throws {
        let room = try Self.stage()
        let generator = SeededGenerator()
        let exchange = try Exchange()
        let target = room(component)
        let loot = try room.names("loot").map { room("loot/\($0)") }
        try publish(in: room, seed: generator) { random in
            guard let other = loot.randomElement(using: &random) else { return }
            exchange(target, other)
            pause(300, &random)
            exchange(target, other)
            pause(600, &random)
        }
    }

    @Test func swappedTargetsAreNotTouched() throws {
        let room = try Self.stage()
        let generator = SeededGenerator()
        let (target, made, key) = (room("a/b/f"), room("made"), room("key"))
        try publish(in: room, seed: generator) { random in
            unsafe remove(target)
            switch Int.random(in: 0..<6, using: &random) {
            case 0:
                // Root's own link would be followed, so this one gets another owner.
                unsafe symlink(key, made)
                unsafe lchown(made, Room.otherUser, Room.otherUser)
                unsafe rename(made, target)
            case 1: unsafe symlink(target, target)
            case 2: unsafe mkfifo(target, 0o600)
            case 3: unsafe mkdir(target, 0o700)
            case 4:
                close(unsafe open(target, O_CREAT | O_WRONLY, 0o600))
                unsafe truncate(target, 1 << 40)
            default: close(unsafe open(target, O_CREAT | O_WRONLY, 0o600))
            }
            pause(300, &random)
            unsafe remove(target)
            close(unsafe open(target, O_CREAT | O_WRONLY | O_EXCL, 0o600))
            pause(600, &random)
        }
    }

    private func publish(
        in room: Room, seed: SeededGenerator, harm: @escaping @Sendable (inout SeededGenerator) throws -> Void
    ) throws {
        let naming = TemporaryNames()
        let outside = try Self.census(room)
        let attacker = attacking(seed, harm: harm)
        let note = "CLIENTSECRETD_SEED=\(seed.seed)"
        var round = 0
        while round < Self.publishes || attacker.turns < Self.publishes {
            round += 1
            do throws(FileError) {
                let file = try AtomicFile(room("a/b/f"), as: Room.root, limit: Room.limit)
                // The key is not read, even where writing would be refused later.
                #expect(file.content?.bytes != Array(Self.key.utf8), "\(note)")
                try file.replace(with: Array("secret \(round)".utf8), mode: 0o640, naming: naming)
            } catch {
                #expect(Self.clear.contains(error.code), "\(error) \(note)")
            }
            do throws(FileError) {
                let content = try GuardedPath.read(room("a/b/f"), as: Room.root, limit: 1_000)
                #expect(content?.bytes != Array(Self.key.utf8), "\(note)")
            } catch {
                #expect(Self.clear.contains(error.code), "\(error) \(note)")
            }
        }
        attacker.stop()
        #expect(try Self.census(room) == outside, "\(note)")
        // Undisturbed, publishing works; and no temporary name is left, except of a directory that was swapped in at
        // the last moment, which is not ours to remove.
        try AtomicFile(room("a/b/f"), as: Room.root, limit: Room.limit).replace(
            with: Array("last".utf8), naming: naming)
        #expect(try room.text("a/b/f") == "last")
        #expect(try room.command("find", [room(""), "-name", ".clientsecretd-*", "!", "-type", "d"]) == "", "\(note)")
    }

    /// In a directory like /tmp, with an attacker who has an ordinary user's rights.
    @Test func aStickyDirectoryOfEverybodysIsSafe() throws {
        let room = try Room(in: "/dev/shm")
        try room.command("chmod", ["755", room("")])
        try room.folder("tmp", mode: 0o1777)
        try room.file("key", Self.key)
        let generator = SeededGenerator()
        let naming = TemporaryNames()
        let (target, folder, key) = (room("tmp/f"), room("tmp"), room("key"))
        let attacker = attacking(generator) { random in
            let harm = Int.random(in: 0..<5, using: &random)
            let pause = UInt32.random(in: 0..<300, using: &random)
            try acting(as: Room.otherIdentity) {
                switch harm {
                case 0: unsafe symlink(key, target)
                case 1: unsafe mkfifo(target, 0o666)
                case 2: unsafe link(key, target)
                case 3: close(unsafe open(target, O_CREAT | O_WRONLY, 0o666))
                default: unsafe mkdir(target, 0o777)
                }
                usleep(pause)
                for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
                    unsafe remove(folder + "/" + name)
                }
            }
        }
        let note = "CLIENTSECRETD_SEED=\(generator.seed)"
        var round = 0
        while round < Self.publishes || attacker.turns < Self.publishes {
            round += 1
            let secret = Array("secret \(round)".utf8)
            do throws(FileError) {
                let file = try AtomicFile(target, as: Room.root, limit: Room.limit)
                #expect(file.content == nil, "\(note)")
                try file.replace(with: secret, naming: naming)
                // A user who cannot remove root's file cannot replace it either.
                #expect(try GuardedPath.read(target, as: Room.root, limit: 100)?.bytes == secret, "\(note)")
                unsafe unlink(target)
            } catch {
                #expect(Self.clear.contains(error.code), "\(error) \(note)")
            }
        }
        attacker.stop()
        #expect(try room.text("key") == Self.key)
        #expect(try room.status("key").st_nlink == 1)
        #expect(try room.names("tmp") == [])
    }

    /// Everything outside the tree: kind, owner, mode, number of names, size, time and content.
    private static func census(_ room: Room) throws -> [String] {
        let listing = try room.command(
            "find",
            [room("outside"), room("loot"), room("key"), "-mindepth", "1", "-printf", "%p %y %U %G %m %n %s %l\\n"])
        let contents = try ["outside/f", "outside/b/f", "key", "loot/file", "loot/theirs/f", "loot/open/f"]
            .map { try room.text($0) }
        return listing.split(separator: "\n").map(String.init).sorted() + contents
    }
}
