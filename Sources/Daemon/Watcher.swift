import Linux
import Rotation

/// Watches the directories of outputs and keys, and says which of them to look at again.
///
/// A directory that gives no notices (it is missing, the watches are used up, a file system on a network) is looked at
/// once a minute instead. Watching one that does not exist, or does no more, begins when that look finds it.
///
/// Stays on the loop's thread; only the asking for a watch, which a file system that hangs would hold up, is done on
/// workers.
final class Watcher {
    private let inotify: Notices
    private let pool: WorkerPool<Lane>
    private let lane: @Sendable (AbsolutePath) -> Lane
    private let found: Inbox<Finding>
    private var list = WatchList()
    private var directories: [Int32: AbsolutePath] = [:]
    private var watches: [AbsolutePath: Int32] = [:]
    private var asking: Set<AbsolutePath> = []
    private var nextRound: BootTime?

    /// What came of asking for a watch, or of following an output's links.
    enum Finding: Sendable {
        case watched(AbsolutePath, Int32)
        case notWatched(AbsolutePath)
        case realPath(AbsolutePath, of: AbsolutePath)
    }

    /// The contract's pace where nothing gives notice.
    private static let round: Int64 = 60_000
    /// Everything by which content, owner or mode can change, and the directory's own end.
    private static let mask: Inotify.Mask = [
        .modified, .attributesChanged, .closedAfterWrite, .movedFrom, .movedTo, .created, .deleted, .deletedSelf,
        .movedSelf, .onlyDirectory, .excludeUnlinked,
    ]

    init(
        pool: WorkerPool<Lane>, lane: @escaping @Sendable (AbsolutePath) -> Lane, found: Inbox<Finding>
    ) throws(SystemError) {
        inotify = Notices(try Inotify())
        self.pool = pool
        self.lane = lane
        self.found = found
    }

    /// The descriptor that is readable when there are notices.
    var raw: Int32 { inotify.inotify.raw }

    /// When the next round by hand is due; nil while every directory gives notices.
    var wake: BootTime? { nextRound }

    /// Watches what this configuration names, and nothing else any more.
    func follow(_ configuration: Configuration, at now: BootTime) {
        list = WatchList(configuration)
        for (directory, watch) in watches where list.interests[directory] == nil {
            inotify.inotify.unwatch(watch)
            forget(watch)
        }
        askForAll(at: now)
    }

    /// Takes in what workers found.
    func absorb(_ findings: [Finding], at now: BootTime) -> Set<Resource> {
        var stirred: Set<Resource> = []
        for finding in findings {
            switch finding {
            case .watched(let directory, let watch):
                asking.remove(directory)
                guard let interests = list.interests[directory] else {
                    inotify.inotify.unwatch(watch)
                    continue
                }
                // What happened before the watch began gave no notice.
                if watches[directory] != watch { stirred.formUnion(interests.all) }
                watches[directory] = watch
                directories[watch] = directory
            case .notWatched(let directory):
                asking.remove(directory)
            case .realPath(let path, let output):
                list.add(path, .file(output))
                if watches[path.directory] == nil { ask(for: path.directory) }
            }
        }
        planRound(at: now)
        return stirred
    }

    /// Reads the notices that wait; returns what to look at.
    func read(at now: BootTime) throws(SystemError) -> Set<Resource> {
        var stirred: Set<Resource> = []
        for event in try inotify.inotify.read() {
            if event.mask.contains(.overflowed) {
                for interests in list.interests.values { stirred.formUnion(interests.all) }
                continue
            }
            guard let directory = directories[event.watch] else { continue }
            if !event.mask.isDisjoint(with: [.ignored, .deletedSelf, .movedSelf, .unmounted]) {
                // The name may stand for another directory by now.
                stirred.formUnion(list.interests[directory]?.all ?? [])
                inotify.inotify.unwatch(event.watch)
                forget(event.watch)
                ask(for: directory)
            } else {
                stirred.formUnion(list.stirred(in: directory, name: event.name))
            }
        }
        planRound(at: now)
        return stirred
    }

    /// Once a minute: what gives no notice is looked at, and asked again for notices.
    func goRound(at now: BootTime) -> Set<Resource> {
        guard let nextRound, now >= nextRound else { return [] }
        self.nextRound = nil
        var stirred: Set<Resource> = []
        for (directory, interests) in list.interests where watches[directory] == nil {
            stirred.formUnion(interests.all)
            ask(for: directory)
        }
        planRound(at: now)
        return stirred
    }

    private func planRound(at now: BootTime) {
        let isBlind = list.interests.keys.contains { watches[$0] == nil }
        nextRound = isBlind ? nextRound ?? now.advanced(milliseconds: Self.round) : nil
    }

    private func askForAll(at now: BootTime) {
        for directory in list.interests.keys where watches[directory] == nil { ask(for: directory) }
        planRound(at: now)
    }

    private func ask(for directory: AbsolutePath) {
        guard asking.insert(directory).inserted else { return }
        let isStarted: Void? = try? pool.run(in: lane(directory)) { [inotify, found] in
            let watch =
                FileSystems.givesNotice(directory.description)
                ? try? inotify.inotify.watch(directory.description, for: Self.mask) : nil
            found.post(watch.map { .watched(directory, $0) } ?? .notWatched(directory))
        }
        if isStarted == nil { asking.remove(directory) }
    }

    private func forget(_ watch: Int32) {
        guard let directory = directories.removeValue(forKey: watch) else { return }
        watches[directory] = nil
    }
}

/// The queue of notices, held by the loop and by the workers that ask for watches.
private final class Notices: Sendable {
    let inotify: Inotify

    init(_ inotify: consuming Inotify) {
        self.inotify = inotify
    }
}
