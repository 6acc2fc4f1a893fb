import Linux
import Model
import SystemPackage

/// Watches the directories of outputs, keys, the configuration and the state, and returns which resources to read
/// again.
///
/// A missing directory is awaited by a watch on its parent. If there can be no watch, the resources are read once a minute
/// instead. The reason may be that all inotify instances or watches are used up, or a network file system.
///
/// Stays on the loop's thread; only adding a watch, which blocks while a file system does not respond, is done on workers.
final class Watcher {
    /// Nil as long as no inotify instance can be had. Shared with the workers that add watches.
    private var inotify: Inotify?
    private let mounts: MountNotices?
    private let pool: WorkerPool<Lane>
    private let lane: @Sendable (AbsolutePath) -> Lane
    private let found: Inbox<Finding>
    private var list = WatchList()
    private let configurationFile: AbsolutePath?
    private let stateDirectory: (Configuration) -> AbsolutePath?
    /// By watch: two paths of one directory share one.
    private var directories: [Int32: Set<AbsolutePath>] = [:]
    private var watches: [AbsolutePath: Int32] = [:]
    /// Directories that are watched only for subdirectories that are created, moved or removed.
    private var narrow: Set<AbsolutePath> = []
    private var requests = WatchRequests()
    /// Outputs whose changes the watches do not report. They are reached through another user's link, or are hidden from the
    /// daemon.
    private var unnoticed: Set<AbsolutePath> = []
    /// Directories without a watch because all that this user may have are in use.
    private var withoutRoom: Set<AbsolutePath> = []
    private(set) var nextPoll: BootTime?
    /// When notices are read again; nil: as soon as there are any.
    private var nextReading: BootTime?
    /// When all watches are added again, because something was mounted or unmounted.
    private var nextAsking: BootTime?

    /// Milliseconds between two reads of files without a watch: the documented minute.
    private static let pollInterval: Int64 = 60_000
    /// Milliseconds between reads. If any user may create files, as in /tmp, there can be a hundred thousand notices a second.
    /// Without a pause, they would keep a core busy.
    private static let readingPause: Int64 = 1_000
    /// Milliseconds to wait for further mounts, as when a container starts.
    private static let mountPause: Int64 = 1_000

    /// - Parameters:
    ///   - configuration: the configuration's own file; nil when it has no usable name, so that it is not watched.
    ///   - stateDirectory: that of a configuration; nil when none is watched.
    init(
        configuration: AbsolutePath?, stateDirectory: @escaping (Configuration) -> AbsolutePath? = { _ in nil },
        pool: WorkerPool<Lane>,
        lane: @escaping @Sendable (AbsolutePath) -> Lane, found: Inbox<Finding>
    ) {
        inotify = try? Inotify()
        mounts = try? MountNotices()
        configurationFile = configuration
        self.stateDirectory = stateDirectory
        self.pool = pool
        self.lane = lane
        self.found = found
    }

    /// The descriptor that is readable when there are notices; nil as long as there is none.
    var raw: Int32? { inotify?.raw }

    /// The descriptor that reports mounts; nil if /proc is not mounted.
    var mountsRaw: Int32? {
        switch mounts {
        case .some(let mounts): mounts.raw
        case .none: nil
        }
    }

    /// Whether a directory is looked at once a minute because there was no watch left for it.
    var isMissingWatches: Bool { !withoutRoom.isEmpty }

    /// Whether notices are read as they come: only then does the loop wait for the descriptor.
    var isListening: Bool { nextReading == nil }

    /// When ``read(at:)`` or ``poll(at:)`` is due next; nil when neither is.
    var wake: BootTime? { [nextReading, nextPoll, nextAsking].compactMap { $0 }.min() }

    /// From now on watches only the files of this configuration.
    func follow(_ configuration: Configuration, at now: BootTime) {
        let old = list
        list = WatchList(configuration, main: configurationFile, state: stateDirectory(configuration))
        list.takeLinkChains(from: old)
        unnoticed = []
        dropUnwanted()
        for (directory, interests) in list.interests {
            let needsWiderWatch =
                old.interests[directory]?.watchesOnlySubdirectories == true && !interests.watchesOnlySubdirectories
            if watches[directory] == nil || needsWiderWatch { ask(for: directory) }
        }
        planPoll(at: now)
    }

    /// Takes in the workers' results; returns the resources to read again.
    func handle(_ findings: [Finding], at now: BootTime) -> Set<Resource> {
        var noticed: Set<Resource> = []
        for finding in findings {
            switch finding {
            case .watched(let directory, let watch, let isNarrow):
                noticed.formUnion(take(watch, of: directory, isNarrow: isNarrow))
            case .missing(let directory):
                requests.endWithoutWatch(directory)
                guard let interests = list.interests[directory] else { break }
                if let watch = watches[directory] {
                    // Its notices that are not read yet, such as the removal of a file before that of the directory, are lost
                    // with it.
                    forget(watch, of: directory)
                    noticed.formUnion(interests.all)
                    askBelow(directory)
                }
                awaitCreation(of: directory)
            case .notWatched(let directory), .noRoom(let directory):
                requests.endWithoutWatch(directory)
                if let watch = watches[directory] {
                    // The watch is on a directory that another one has replaced, or is mounted over.
                    forget(watch, of: directory)
                    noticed.formUnion(list.interests[directory]?.all ?? [])
                }
                if case .noRoom = finding { withoutRoom.insert(directory) }
            case .linkChain(let linkChain, let resource):
                let changed = list.follow(linkChain, of: resource)
                if !changed.isEmpty { dropUnwanted() }
                for directory in changed { ask(for: directory) }
            case .notNoticed(let output):
                if list.interests[output.directory] != nil { unnoticed.insert(output) }
            case .mayHaveChanged:
                for interests in list.interests.values { noticed.formUnion(interests.all) }
            }
        }
        for directory in requests.takeRepeated() { ask(for: directory) }
        planPoll(at: now)
        return noticed
    }

    private func take(_ watch: Int32, of directory: AbsolutePath, isNarrow: Bool) -> Set<Resource> {
        requests.endWithWatch(directory)
        guard let interests = list.interests[directory] else {
            if directories[watch] == nil { remove(watch) }
            return []
        }
        let old = watches[directory]
        if let old, old != watch { forget(old, of: directory) }
        let isWider = narrow.remove(directory) != nil && !isNarrow
        if isNarrow { narrow.insert(directory) }
        watches[directory] = watch
        directories[watch, default: []].insert(directory)
        if list.isAwaited(directory) {
            list.stopAwaiting(directory)
            dropUnwanted()
            reduceWatch(directory.directory)
        }
        // Changes before the watch was added, or widened, gave no notice.
        guard old != watch || isWider else { return [] }
        for name in interests.awaited { if let child = directory.appending(name) { ask(for: child) } }
        askBelow(directory)
        return interests.all
    }

    /// Awaits a missing directory by a watch on its parent; the root is never missing.
    private func awaitCreation(of directory: AbsolutePath) {
        guard directory.directory != directory else { return }
        list.expect(directory)
        if watches[directory.directory] == nil { ask(for: directory.directory) }
    }

    /// Adds the watch of a directory again, now that no subdirectory of it is awaited: a directory that is
    /// only an ancestor of others may need no watch.
    private func reduceWatch(_ directory: AbsolutePath) {
        guard list.interests[directory]?.isOnlyAncestor == true, let watch = watches[directory] else { return }
        forget(watch, of: directory)
        ask(for: directory)
    }

    /// Asks for the directories of interest below one whose path may lead elsewhere now: their watches would stay with the
    /// directories that it led to.
    private func askBelow(_ directory: AbsolutePath) {
        guard let names = list.interests[directory]?.descendants.keys else { return }
        for other in names.reduce(into: Set(), { $0.formUnion(list.rerouted(in: directory, name: $1)) }) {
            ask(for: other)
        }
    }

    /// Reads the queued notices, once a second at most; returns the resources to read again.
    func read(at now: BootTime) throws(SystemError) -> Set<Resource> {
        guard let inotify else { return [] }
        if let nextReading, now < nextReading { return [] }
        let events = try inotify.read()
        nextReading = events.isEmpty ? nil : now.advanced(milliseconds: Self.readingPause)
        var noticed: Set<Resource> = []
        for event in events {
            if event.mask.contains(.overflowed) {
                for (directory, interests) in list.interests {
                    noticed.formUnion(interests.all)
                    // A lost notice may have reported that it was removed or moved, or that an awaited directory was created.
                    ask(for: directory)
                }
                continue
            }
            let isGone = !event.mask.isDisjoint(with: [.ignored, .deletedSelf, .movedSelf, .unmounted])
            for directory in directories[event.watch] ?? [] {
                if isGone {
                    // The path may lead to another directory by now.
                    noticed.formUnion(list.interests[directory]?.all ?? [])
                    forget(event.watch, of: directory)
                    ask(for: directory)
                } else {
                    noticed.formUnion(list.resources(in: directory, name: event.name))
                    for other in list.rerouted(in: directory, name: event.name) { ask(for: other) }
                    if list.isAwaited(event.name, in: directory), let child = directory.appending(event.name) {
                        ask(for: child)
                    }
                }
            }
        }
        planPoll(at: now)
        return noticed
    }

    /// Something was mounted or unmounted: any path may lead to another directory now.
    func noteMounts(at now: BootTime) {
        nextAsking = nextAsking ?? now.advanced(milliseconds: Self.mountPause)
    }

    /// Once a minute: returns the resources whose changes no watch reports, and tries again to watch them. After a mount:
    /// adds all watches again.
    func poll(at now: BootTime) -> Set<Resource> {
        if let due = nextAsking, now >= due {
            nextAsking = nil
            for directory in list.interests.keys { ask(for: directory) }
        }
        guard let nextPoll, now >= nextPoll else { return [] }
        self.nextPoll = nil
        if inotify == nil, let found = try? Inotify() {
            inotify = found
            nextAsking = now
        }
        var noticed = Set(unnoticed.map(Resource.file))
        for (directory, interests) in list.interests where isUnwatched(directory) {
            noticed.formUnion(interests.all)
            ask(for: directory)
        }
        planPoll(at: now)
        return noticed
    }

    private func planPoll(at now: BootTime) {
        withoutRoom = withoutRoom.filter { list.interests[$0] != nil && isUnwatched($0) }
        let mustObserve = !unnoticed.isEmpty || list.interests.keys.contains(where: isUnwatched)
        nextPoll = mustObserve ? nextPoll ?? now.advanced(milliseconds: Self.pollInterval) : nil
    }

    /// Whether no watch reports changes in a directory, or its creation. Never true of a directory that is only an ancestor of
    /// others. It has no watch if the daemon's user may not read it, and nothing in it is of interest.
    private func isUnwatched(_ directory: AbsolutePath) -> Bool {
        list.interests[directory]?.isOnlyAncestor != true && watches[directory] == nil
            && !(list.isAwaited(directory) && watches[directory.directory] != nil)
    }

    private func ask(for directory: AbsolutePath) {
        guard let interests = list.interests[directory], let inotify else { return }
        guard requests.begin(directory) else { return }
        let isNarrow = interests.watchesOnlySubdirectories
        let isOnlyAncestor = interests.isOnlyAncestor
        let isStarted: Void? = try? pool.run(in: lane(directory)) { [found] in
            found.post(Self.watch(directory, isNarrow: isNarrow, isOnlyAncestor: isOnlyAncestor, by: inotify))
        }
        if isStarted == nil { requests.endWithoutWatch(directory) }
    }

    private func forget(_ watch: Int32, of directory: AbsolutePath) {
        watches[directory] = nil
        narrow.remove(directory)
        directories[watch]?.remove(directory)
        guard directories[watch]?.isEmpty == true else { return }
        directories[watch] = nil
        remove(watch)
    }

    private func remove(_ watch: Int32) {
        inotify?.unwatch(watch)
        requests.noteRemoval()
    }

    /// Removes the watches of directories that are no longer of interest.
    private func dropUnwanted() {
        for (directory, watch) in watches where list.interests[directory] == nil { forget(watch, of: directory) }
    }
}
