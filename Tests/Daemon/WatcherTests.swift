import AppleClientSecret
import Foundation
import Linux
import Model
import Rotation
import TestSupport
import Testing

@testable import Daemon

@Suite struct WatcherTests {
    private func configuration(_ paths: AbsolutePath...) throws -> Configuration {
        let entry = ClientConfiguration(
            clientID: try #require(ClientID("com.example.web")), key: try #require(KeyName("apple")),
            lifetime: .maximum, renewBefore: 3600,
            outputs: paths.map { Output(path: $0, format: .env, slot: .variable("SECRET"), owner: "app") })
        return Configuration(keys: [:], clients: [try #require(ClientName("web")): entry])
    }

    /// A watcher that follows a configuration, by a clock of its own.
    private final class Watch {
        static let start = BootTime(milliseconds: 1_000_000)
        let watcher: Watcher
        let found: Inbox<Watcher.Finding>
        var clock = start

        init(_ configuration: Configuration, at file: AbsolutePath? = nil) throws {
            found = try Inbox<Watcher.Finding>()
            watcher = Watcher(
                configuration: file, pool: WorkerPool(limit: 1), lane: { _ in .settings }, found: found)
            watcher.follow(configuration, at: clock)
        }

        /// A second later each time, because events are read once a second.
        func now() -> BootTime {
            clock = clock + 1
            return clock
        }

        func notices() throws -> Set<Resource> {
            try watcher.handle(found.drain(), at: now()).union(watcher.read(at: now()))
        }
    }

    /// A watcher of one output that has told all that its start brings.
    private func watchAtRest(in directory: TemporaryDirectory) throws -> (Watch, AbsolutePath) {
        try directory.folder("out")
        let path = try #require(AbsolutePath(directory("out/app.env")))
        let watch = try Watch(try configuration(path))
        #expect(try eventually { try watch.notices() == [.file(path)] })
        while try watch.notices() != [] {}
        return (watch, path)
    }

    /// Another directory took its place, and there are no watches left: the old watch would tell of the old directory for ever.
    @Test func aDirectoryThatCannotBeWatchedAgainIsReadEachMinute() throws {
        let directory = try TemporaryDirectory()
        let (watch, path) = try watchAtRest(in: directory)
        #expect(watch.watcher.handle([.notWatched(path.directory)], at: watch.now()).contains(.file(path)))
        watch.clock = watch.clock + 61
        #expect(watch.watcher.poll(at: watch.now()).contains(.file(path)))
    }

    /// After a mount was noticed, a worker finds the directory gone before the notice of its file's removal is read.
    @Test func aDirectoryFoundMissingIsReadAgainAlthoughItsNoticesAreLost() throws {
        let directory = try TemporaryDirectory()
        let (watch, path) = try watchAtRest(in: directory)
        try FileManager.default.removeItem(atPath: directory("out"))
        #expect(watch.watcher.handle([.missing(path.directory)], at: watch.now()).contains(.file(path)))
    }

    @Test func everythingIsReadAgainThatIsJudgedByMore() throws {
        let (watch, path) = try watchAtRest(in: try TemporaryDirectory())
        #expect(watch.watcher.handle([.mayHaveChanged], at: watch.now()) == [.file(path)])
    }

    @Test func saysAsLongAsThereIsNoWatchLeft() throws {
        let directory = try TemporaryDirectory()
        let (watch, path) = try watchAtRest(in: directory)
        #expect(watch.watcher.handle([.noRoom(path.directory)], at: watch.now()).contains(.file(path)))
        #expect(watch.watcher.isMissingWatches)
        watch.clock = watch.clock + 61
        #expect(watch.watcher.poll(at: watch.now()).contains(.file(path)))
        #expect(try eventually { try watch.notices().contains(.file(path)) })
        #expect(!watch.watcher.isMissingWatches)
    }

    /// Nothing tells of what is moved in a directory without a watch, such as one in which anybody makes files.
    @Test func anotherDirectoryBelowOneThatIsNotWatchedIsWatchedInItsPlace() throws {
        let directory = try TemporaryDirectory()
        for name in ["open", "open/way", "open/way/out", "new", "new/out"] { try directory.folder(name) }
        _ = unsafe chmod(directory("open"), 0o1777)
        let path = try #require(AbsolutePath(directory("open/way/out/app.env")))
        let watch = try Watch(try configuration(path))
        #expect(try eventually { try watch.notices() == [.file(path)] })
        while try watch.notices() != [] {}
        try FileManager.default.moveItem(atPath: directory("open/way"), toPath: directory("old"))
        try FileManager.default.moveItem(atPath: directory("new"), toPath: directory("open/way"))
        #expect(try eventually { try watch.notices() == [.file(path)] })
        while try watch.notices() != [] {}
        try directory.write("A=1", to: "open/way/out/app.env")
        #expect(try eventually { try watch.notices() == [.file(path)] })
    }

    /// Two paths lead to one directory, which has one watch for both.
    @Test func aWatchThatIsRemovedWhileAnotherPathGetsItIsAddedAgain() throws {
        let directory = try TemporaryDirectory()
        for name in ["real", "two"] {
            try FileManager.default.createDirectory(atPath: directory(name), withIntermediateDirectories: false)
        }
        try FileManager.default.createSymbolicLink(atPath: directory("one"), withDestinationPath: directory("real"))
        let one = try #require(AbsolutePath(directory("one/app.env")))
        let two = try #require(AbsolutePath(directory("two/app.env")))
        let target = try #require(AbsolutePath(directory("real/app.env")))
        let watch = try Watch(try configuration(one, two))
        var noticed: Set<Resource> = []
        func isNoticed(_ path: AbsolutePath) throws -> Bool {
            noticed.formUnion(try watch.notices())
            return noticed.contains(.file(path))
        }
        #expect(try eventually { try isNoticed(one) && isNoticed(two) })
        noticed = []
        // The other output is a link into that directory.
        _ = watch.watcher.handle([.linkChain([target], of: .file(two))], at: watch.now())
        #expect(try eventually { try isNoticed(two) })
        while try watch.notices() != [] {}
        _ = watch.watcher.handle([.notWatched(one.directory)], at: watch.now())
        watch.clock = watch.clock + 61
        _ = watch.watcher.poll(at: watch.now())
        // A worker has added the watch for the first path, which nothing has taken in when the link is gone.
        #expect(watch.found.wait(atMost: 60_000))
        _ = watch.watcher.handle([.linkChain([], of: .file(two))], at: watch.now())
        _ = try watch.watcher.read(at: watch.now())
        while try watch.notices() != [] {}
        noticed = []
        let isHeard = try eventually {
            try directory.write("A=1", to: "real/app.env")
            return try isNoticed(one)
        }
        #expect(isHeard)
    }

    /// A directory's owner, mode and list decide who may do what in it, and the directories above where the path leads.
    @Test func directoriesThemselvesAreWatchedUpToTheRoot() throws {
        let directory = try TemporaryDirectory()
        for name in ["way", "way/out"] { try directory.folder(name) }
        let path = try #require(AbsolutePath(directory("way/out/app.env")))
        let watch = try Watch(try configuration(path))
        func isNoticed() throws -> Bool { try watch.notices() == [.file(path)] }
        #expect(try eventually(isNoticed))
        /// Repeats a change until it is noticed: the start of a watch cannot be seen from outside.
        func expectNotice(_ what: String, _ change: (Int) throws -> Void) throws {
            while try watch.watcher.read(at: watch.now()) != [] {}
            var round = 0
            let isHeard = try eventually {
                round += 1
                try change(round)
                return try isNoticed()
            }
            #expect(isHeard, "\(what)")
        }
        for name in ["way/out", "way", ""] {
            try expectNotice("the mode of \(name)") { round in
                _ = unsafe chmod(directory(name), round.isMultiple(of: 2) ? 0o700 : 0o750)
            }
        }
        try expectNotice("a move") { round in
            let (old, new) = round.isMultiple(of: 2) ? ("away", "way") : ("way", "away")
            _ = unsafe rename(directory(old), directory(new))
        }
        // The directory is watched again where it is now, or is expected.
        if FileManager.default.fileExists(atPath: directory("away")) {
            try FileManager.default.moveItem(atPath: directory("away"), toPath: directory("way"))
        }
        try expectNotice("a file after the move") { _ in try directory.write("A=1", to: "way/out/app.env") }
        // What other programs do there is no reason to read the file back.
        func isAtRest() throws -> Bool { try watch.notices() == [] && watch.watcher.wake == nil }
        #expect(try eventually(isAtRest))
        try directory.write("", to: "other")
        try directory.write("", to: "way/other")
        for _ in 0..<2 { #expect(try watch.notices() == []) }
        #expect(try eventually(isAtRest))
    }

    /// Moving a directory gives no notice in those below it.
    @Test func directoriesAboveALinksTargetAreWatchedToo() throws {
        let file = try #require(AbsolutePath("/etc/app/.env"))
        let target = try #require(AbsolutePath("/srv/data/app/.env"))
        let (data, root) = (target.directory.directory, target.directory.directory.directory)
        var list = WatchList(try configuration(file), main: nil)
        #expect(list.follow([file, target], of: .file(file)).isSuperset(of: [target.directory, data, root]))
        #expect(list.resources(in: root, name: data.name) == [.file(file)])
        #expect(list.rerouted(in: root, name: data.name) == [data, target.directory])
        // Until the link leads elsewhere.
        _ = list.follow([], of: .file(file))
        for directory in [target.directory, data, root] { #expect(list.interests[directory] == nil) }
        #expect(list.rerouted(in: root.directory, name: root.name).isEmpty)
        #expect(list.interests[file.directory] != nil)
        #expect(list.resources(in: root.directory, name: "etc") == [.file(file)])
    }

    /// A link's owner may have it lead to ever new files next to it.
    @Test func namesOfFormerLinkTargetsAreForgotten() throws {
        let file = try #require(AbsolutePath("/srv/app/.env"))
        let main = try #require(AbsolutePath("/etc/app/c.yaml"))
        var list = WatchList(try configuration(file), main: main)
        func names(beside path: AbsolutePath) -> [String]? { list.interests[path.directory]?.names.keys.sorted() }
        for name in ["one", "two"] {
            let target = try #require(AbsolutePath("/srv/app/\(name)"))
            _ = list.follow([file, target], of: .file(file))
            #expect(names(beside: file) == [".env", name])
        }
        _ = list.follow([], of: .file(file))
        #expect(names(beside: file) == [".env"])
        // Which names the configuration has does not depend on links.
        let link = try #require(AbsolutePath("/etc/app/..data"))
        _ = list.follow([main, link], of: .configuration)
        _ = list.follow([], of: .configuration)
        #expect(names(beside: main) == ["..data", "c.yaml"])
    }

    /// Where anybody may create files, one can create them without end.
    @Test func aFloodIsLookedAtOnceASecond() throws {
        let directory = try TemporaryDirectory()
        let path = try #require(AbsolutePath(directory("app.env")))
        let watch = try Watch(configuration(path))
        let (watcher, found, start) = (watch.watcher, watch.found, Watch.start)
        #expect(eventually { watcher.handle(found.drain(), at: start) == [.file(path)] })
        var observations: [Int64] = []
        // A change every ten milliseconds for ten seconds.
        for milliseconds: Int64 in stride(from: 0, to: 10_000, by: 10) {
            try directory.write("A=\(milliseconds)", to: "app.env")
            if try watcher.read(at: start.advanced(milliseconds: milliseconds)) == [.file(path)] {
                observations.append(milliseconds)
            }
            // Until the next read, the inotify descriptor must not be waited for.
            #expect(!watcher.isListening)
            #expect(watcher.wake == start.advanced(milliseconds: (observations.last ?? 0) + 1_000))
        }
        #expect(observations == [0, 1_000, 2_000, 3_000, 4_000, 5_000, 6_000, 7_000, 8_000, 9_000])
        // The last change is not lost, and once it is quiet nothing wakes any more.
        #expect(try watcher.read(at: start + 10) == [.file(path)])
        #expect(try watcher.read(at: start + 11) == [])
        #expect(watcher.isListening)
        #expect(watcher.wake == nil)
    }

    @Test func theFileWithTheMetricsIsWatched() throws {
        let directory = try TemporaryDirectory()
        for name in ["out", "metrics"] { try directory.folder(name) }
        let file = try directory.write("m", to: "metrics/m.prom")
        let metrics = try #require(AbsolutePath(file))
        var configuration = try configuration(try #require(AbsolutePath(directory("out/app.env"))))
        configuration.metricsFile = metrics
        let watch = try Watch(configuration)
        #expect(try eventually { try watch.notices().contains(.metricsFile(metrics)) })
        while try watch.notices() != [] {}
        try #require(unsafe unlink(file) == 0)
        #expect(try watch.notices() == [.metricsFile(metrics)])
    }

    /// Each event by itself: most ways of changing a file cause several of these, but not all.
    @Test func everyKindOfChangeOfAFileIsNoticed() throws {
        let directory = try TemporaryDirectory()
        for name in ["out", "elsewhere"] { try directory.folder(name) }
        let file = try directory.write("A=1", to: "out/app.env")
        let path = try #require(AbsolutePath(file))
        let watch = try Watch(configuration(path))
        let (watcher, found) = (watch.watcher, watch.found)
        var now: BootTime { watch.now() }
        #expect(eventually { watcher.handle(found.drain(), at: now) == [.file(path)] })
        func expectNotice(_ what: String, _ change: () throws -> Void) throws {
            #expect(try watcher.read(at: now) == [], "before \(what)")
            try change()
            #expect(try watcher.read(at: now) == [.file(path)], "\(what)")
        }
        let handle = try #require(FileHandle(forWritingAtPath: file))
        try expectNotice("what is written into it") { try handle.write(contentsOf: Data("B".utf8)) }
        // A write through a memory mapping is no call, so only the close is noticed.
        try expectNotice("the end of who may have written into it") { try handle.close() }
        try expectNotice("its mode") { try #require(unsafe chmod(file, 0o640) == 0) }
        let elsewhere = directory("elsewhere/app.env")
        try expectNotice("its going elsewhere") { try #require(unsafe rename(file, elsewhere) == 0) }
        try expectNotice("one that takes its place") { try #require(unsafe rename(elsewhere, file) == 0) }
        try expectNotice("its end") { try #require(unsafe unlink(file) == 0) }
        try expectNotice("a new one") { try #require(unsafe mkfifo(file, 0o600) == 0) }
    }

    /// A file may change between being read back and the moment from which its directory's watch reports that.
    @Test func aDirectoryThatGivesMoreNoticesThanBeforeIsAReasonToLook() throws {
        let directory = try TemporaryDirectory()
        try directory.folder("out")
        let (below, above) = (AbsolutePath(directory("out/app.env")), AbsolutePath(directory("app.env")))
        let watch = try Watch(configuration(#require(below)))
        let (watcher, found) = (watch.watcher, watch.found)
        let now = Watch.start
        var findings = 0
        let isWatched = eventually {
            let news = found.drain()
            findings += news.count
            _ = watcher.handle(news, at: now)
            return findings == below?.description.split(separator: "/").count
        }
        #expect(isWatched)
        let path = try #require(above)
        watcher.follow(try configuration(path), at: now)
        #expect(eventually { watcher.handle(found.drain(), at: now) == [.file(path)] })
        #expect(try watcher.read(at: now) == [])
    }

    /// Else each change in a directory of a removed client would wake the daemon.
    @Test func aReloadEndsTheWatchesOfWhatIsNoOutputAnyMore() throws {
        let directory = try TemporaryDirectory()
        for name in ["kept", "removed"] { try directory.folder(name) }
        let paths = try ["kept/a.env", "removed/b.env"].map { try #require(AbsolutePath(directory($0))) }
        let one = try configuration(paths[0])
        var both = one
        both.clients[try #require(ClientName("api"))] = try configuration(paths[1]).clients.values.first
        let watch = try Watch(both)
        let (watcher, found, now) = (watch.watcher, watch.found, Watch.start)
        /// The directories that the kernel watches, by their inodes.
        func watched() throws -> Set<Int> {
            let lines = try String(contentsOfFile: "/proc/self/fdinfo/\(try #require(watcher.raw))", encoding: .utf8)
            return Set(lines.matches(of: #/inotify .* ino:([0-9a-f]+) /#).compactMap { Int($0.1, radix: 16) })
        }
        func inode(_ name: String) throws -> Int {
            try #require(
                FileManager.default.attributesOfItem(atPath: directory(name))[.systemFileNumber] as? Int)
        }
        var noticed: Set<Resource> = []
        #expect(
            eventually {
                noticed.formUnion(watcher.handle(found.drain(), at: now))
                return noticed == Set(paths.map(Resource.file))
            })
        #expect(try watched().isSuperset(of: [inode("kept"), inode("removed")]))
        watcher.follow(one, at: now)
        // A worker may have been adding its watch once more.
        let isRemoved = try eventually {
            _ = watcher.handle(found.drain(), at: now)
            return try !watched().contains(inode("removed"))
        }
        #expect(isRemoved)
        #expect(try watched().contains(inode("kept")))
        // Nor is it watched again for what another client has there.
        try directory.write("A=1", to: "removed/b.env")
        try directory.write("A=1", to: "kept/a.env")
        #expect(try watcher.read(at: now) == [.file(paths[0])])
    }

    /// A change before its directories are watched gives no notice.
    @Test func theConfigurationIsReadAgainOnceItIsWatchedAndAfterEachChange() throws {
        let directory = try TemporaryDirectory()
        for name in ["main.d", "out"] { try directory.folder(name) }
        try directory.write("", to: "main.yaml")
        let path = try #require(AbsolutePath(directory("out/app.env")))
        let watch = try Watch(configuration(path), at: AbsolutePath(directory("main.yaml")))
        let (watcher, found) = (watch.watcher, watch.found)
        // Every directory above the output is watched, and the one of the drop-in files.
        var findings = 0
        var noticed: Set<Resource> = []
        let isWatched = eventually {
            let news = found.drain()
            findings += news.count
            noticed.formUnion(watcher.handle(news, at: Watch.start))
            return findings > path.description.split(separator: "/").count
        }
        #expect(isWatched)
        #expect(noticed == [.file(path), .configuration])
        #expect(try watcher.read(at: Watch.start) == [])
        try directory.write("a change", to: "main.yaml")
        #expect(try watcher.read(at: watch.now()) == [.configuration])
        let later = watch.now()
        #expect(try watcher.read(at: later) == [])
        try directory.write("", to: "main.d/more.yaml")
        #expect(try watcher.read(at: later) == [.configuration])
    }

    @Test func placesWithoutNoticesAreLookedAtOnceAMinute() throws {
        let directory = try TemporaryDirectory()
        let path = try #require(AbsolutePath(directory("app.env")))
        let configuration = try configuration(path)
        let watch = try Watch(configuration)
        let (watcher, found, start) = (watch.watcher, watch.found, Watch.start)
        #expect(eventually { watcher.handle(found.drain(), at: start) == [.file(path)] })
        // The directory is watched: that is enough, unless its writer sees another directory under this name.
        #expect(watcher.wake == nil)
        #expect(watcher.handle([.notNoticed(path)], at: start) == [])
        #expect(watcher.wake == start + 60)
        #expect(watcher.poll(at: start + 59) == [])
        #expect(watcher.poll(at: start + 60) == [.file(path)])
        #expect(watcher.wake == start + 120)
        // A path that no configuration names causes no wake.
        let other = try #require(AbsolutePath("/elsewhere/app.env"))
        watcher.follow(configuration, at: start + 60)
        #expect(watcher.wake == nil)
        _ = watcher.handle([.notNoticed(other)], at: start + 60)
        #expect(watcher.wake == nil)
    }
}
