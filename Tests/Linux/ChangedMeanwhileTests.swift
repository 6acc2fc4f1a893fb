import Failures
import Foundation
import Glibc
import Linux
import SystemPackage
import TestSupport
import Testing

/// A file that somebody changed after it was read is left as they made it.
@Suite(.needs(.root)) struct ChangedMeanwhileTests {
    private let naming = TemporaryNames()

    /// Reads, lets `somebody` change the file, then replaces it.
    private func replace(_ room: Room, after somebody: () throws -> Void) throws -> FileError {
        let file = try AtomicFile(room("f"), as: Room.root, limit: Room.limit)
        try somebody()
        return try #require(throws: FileError.self) { try file.replace(with: Array("new".utf8), naming: naming) }
    }

    /// The inode of "f"; nil if it is absent.
    private func inode(_ room: Room) -> Int? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: room("f"))
        return attributes?[.systemFileNumber] as? Int
    }

    @Test func aFileThatAnotherProgramPutThereStays() throws {
        let changes: [(Room) throws -> Void] = [
            { try $0.file("f", "theirs") },
            { try $0.command("chmod", ["640", $0("f")]) },
            {
                try $0.file("g", "theirs")
                try $0.command("mv", [$0("g"), $0("f")])
            },
            {
                try $0.remove("f")
                try $0.fifo("f")
            },
            {
                try $0.remove("f")
                try $0.folder("f")
            },
            {
                try $0.remove("f")
                try $0.link("f", to: "key")
            },
            { try $0.remove("f") },
        ]
        for (number, change) in changes.enumerated() {
            let room = try Room()
            try room.file("key", "secret")
            try room.file("f")
            var left: Int?
            let error = try replace(room) {
                try change(room)
                left = inode(room)
            }
            #expect(error == FileError(.changedMeanwhile, at: room("f")), "change \(number)")
            #expect(inode(room) == left, "change \(number)")
            #expect(try room.names() == (left == nil ? ["key"] : ["f", "key"]), "change \(number)")
            #expect(try room.text("key") == "secret")
        }
    }

    @Test func aFileThatAppearedIsNotReplaced() throws {
        let room = try Room()
        #expect(try replace(room) { try room.file("f", "theirs") } == FileError(.changedMeanwhile, at: room("f")))
        #expect(try room.text("f") == "theirs")
        #expect(try room.names() == ["f"])
    }

    /// Two writers that both check before they replace: no line of either is ever lost.
    @Test func twoWritersThatMergeLoseNothing() throws {
        let room = try Room(in: "/dev/shm")
        try room.file("f", "")
        let rounds = 100
        let done = DispatchSemaphore(value: 0)
        let path = room("f")
        let naming = naming
        for name in ["a", "b"] {
            Thread.detachNewThread {
                for round in 0..<rounds {
                    do {
                        try Self.merge(path, naming) { $0 + Array("\(name)\(round)\n".utf8) }
                    } catch {
                        Issue.record(error)
                    }
                }
                done.signal()
            }
        }
        done.wait()
        done.wait()
        let lines = try room.text("f").split(separator: "\n").map(String.init)
        #expect(lines.count == 2 * rounds)
        for name in ["a", "b"] {
            #expect(lines.filter { $0.hasPrefix(name) } == (0..<rounds).map { "\(name)\($0)" })
        }
        #expect(try room.names() == ["f"])
    }

    /// An editor that replaces the file by renaming, without a check: its text is never lost, even when it renames
    /// between our last check and our own rename.
    @Test func aTextThatAnEditorSavesInTheLastMomentIsKept() throws {
        let room = try Room(in: "/dev/shm")
        try room.file("f", "theirs\n")
        let path = room("f")
        let naming = naming
        let merger = attacking(SeededGenerator()) { random in
            let mine = Array("ours \(random.next())\n".utf8)
            try Self.merge(path, naming) { bytes in
                bytes.prefix { $0 != UInt8(ascii: "\n") } + [UInt8(ascii: "\n")] + mine
            }
        }
        for round in 0..<1_000 {
            try room.file("made", "theirs \(round)\n")
            try room.require(unsafe rename(room("made"), path))
            // Our text may be there for a moment; theirs has to come back.
            var seen = false
            for _ in 0..<100_000 where !seen { seen = try room.text("f").hasPrefix("theirs \(round)\n") }
            #expect(seen, "round \(round) is lost")
        }
        merger.stop()
        #expect(try room.text("f").hasPrefix("theirs 999\n"))
        #expect(try room.names() == ["f"])
    }

    /// Like the daemon: starts again from the file for as long as somebody else was faster.
    private static func merge(
        _ path: String, _ naming: TemporaryNames, _ edit: ([UInt8]) -> [UInt8]
    ) throws {
        while true {
            let file = try AtomicFile(path, as: Room.root, limit: Room.limit)
            do throws(FileError) {
                try file.replace(with: edit(file.content?.bytes ?? []), naming: naming)
                return
            } catch {
                guard error.code == .changedMeanwhile else { throw error }
            }
        }
    }
}
