import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Linux

struct InotifyTests {
    private let directory: TemporaryDirectory
    private let files = FileManager.default

    init() throws {
        directory = try TemporaryDirectory()
    }

    @Test func reportsWhatHappensToNamesInADirectory() throws {
        let notices = try Inotify()
        #expect(try notices.read() == [])
        let watch = try notices.watch(directory.path, for: [.created, .movedTo, .movedFrom, .deleted])
        try directory.write("1", to: "a")
        try files.moveItem(atPath: directory("a"), toPath: directory("ä b"))
        try files.createDirectory(atPath: directory("sub"), withIntermediateDirectories: false)
        try files.removeItem(atPath: directory("ä b"))
        #expect(
            try notices.read() == [
                .init(watch: watch, mask: .created, name: "a"),
                .init(watch: watch, mask: .movedFrom, name: "a"),
                .init(watch: watch, mask: .movedTo, name: "ä b"),
                .init(watch: watch, mask: [.created, .isDirectory], name: "sub"),
                .init(watch: watch, mask: .deleted, name: "ä b"),
            ])
        #expect(try notices.read() == [])
    }

    @Test func reportsThatAWatchIsGone() throws {
        let path = try directory.write("1", to: "a")
        let notices = try Inotify()
        let watch = try notices.watch(path, for: [.deletedSelf, .closedAfterWrite])
        try directory.write("2", to: "b")
        #expect(try notices.watch(path, for: [.deletedSelf, .closedAfterWrite]) == watch)
        #expect(try notices.watch(directory("b"), for: .attributesChanged) != watch)
        #expect(unsafe rename(directory("b"), path) == 0)
        let gone = try notices.read().filter { $0.watch == watch }
        #expect(gone.map(\.mask) == [.deletedSelf, .ignored])
        #expect(gone.allSatisfy { $0.name.isEmpty })
    }

    @Test func isQuietAfterUnwatchingButForTheWordThatItIsGone() throws {
        let notices = try Inotify()
        let watch = try notices.watch(directory.path, for: .created)
        notices.unwatch(watch)
        notices.unwatch(watch)
        try directory.write("1", to: "a")
        #expect(try notices.read() == [.init(watch: watch, mask: .ignored, name: "")])
    }

    @Test func reportsThatNoticesWereLost() throws {
        let most = try String(contentsOfFile: "/proc/sys/fs/inotify/max_queued_events", encoding: .utf8)
        let queue = try #require(Int(most.trimmingCharacters(in: .whitespacesAndNewlines)))
        let notices = try Inotify()
        _ = try notices.watch(directory.path, for: [.movedFrom, .movedTo])
        try directory.write("1", to: "a")
        for turn in 0..<(queue / 2 + 1) {
            let (from, to) = turn % 2 == 0 ? ("a", "b") : ("b", "a")
            #expect(unsafe rename(directory(from), directory(to)) == 0)
        }
        var events: [Inotify.Event] = []
        while true {
            let more = try notices.read()
            if more.isEmpty { break }
            events += more
        }
        #expect(events.count == queue + 1)
        #expect(events.last == .init(watch: -1, mask: .overflowed, name: ""))
    }

    @Test func saysWhatCannotBeWatched() throws {
        let notices = try Inotify()
        let path = directory("nothing")
        let error = #expect(throws: SystemError.self) { _ = try notices.watch(path, for: .modified) }
        #expect(error?.errno == .noSuchFileOrDirectory)
        #expect(error?.description == "cannot watch \(path): No such file or directory")
    }
}
