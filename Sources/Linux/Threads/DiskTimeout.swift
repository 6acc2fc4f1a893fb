internal import Failures
internal import Glibc

/// How long a command waits for a file system that does not respond, such as NFS without its server. The daemon's jobs wait on
/// their own lanes (``WorkerPool``) as long as necessary. There this does nothing except for one request at its start.
///
/// Work that may block runs on a thread, which is left behind if it does not end in time. Other paths on the same mount are not
/// tried again, so that a command waits once for each mount. After the first one that does not respond, a command waits less for
/// the others, because a server with several exports takes all of them with it. A thread has the rights of the one that starts it.
package enum DiskTimeout {
    private struct Wait: Sendable {
        let seconds: Int
        let mounts: MountTable?
        /// The first path that did not answer, by its mount, or by the process for a path that only that process can reach.
        var silent: [String: String] = [:]

        /// How long a path is waited for now.
        var limit: Int { silent.isEmpty ? seconds : min(seconds, DiskTimeout.laterSeconds) }
    }

    /// How long a mount is waited for after the first one that does not respond.
    private static let laterSeconds = 5

    private static let wait = QuietMutex<Wait?>(nil)

    /// From now on this process gives up after so many seconds.
    package static func begin(seconds: Int) {
        // Read outside the lock, which reading takes.
        let mounts = MountTable.ofThisProcess()
        wait.withLock { $0 = Wait(seconds: seconds, mounts: mounts) }
    }

    /// From now on it waits for as long as it takes, as a daemon does.
    package static func end() {
        wait.withLock { $0 = nil }
        endReaders()
    }

    /// Ends the threads that wait for something to look at: they keep the rights of the one that started them.
    static func endReaders() {
        let idle = readers.withLock { readers in
            defer { readers = [] }
            return readers
        }
        for reader in idle { reader.end() }
    }

    /// How long this command waits (milliseconds), also for another user's process that looks for it; nil in a daemon.
    package static var milliseconds: Int64? { wait.withLock { $0.map { Int64($0.seconds) * 1_000 } } }

    /// The paths that did not answer, one for each mount.
    package static var silent: [String] { wait.withLock { $0?.silent.values.sorted() ?? [] } }

    /// The detail of ``FailureCode/notResponding``.
    package static var words: String {
        let limit = wait.withLock { wait in wait.map { $0.silent.count > 1 ? $0.limit : $0.seconds } }
        return "it did not answer within \(limit ?? 0) s"
    }

    /// The result of `body` for an absolute path; nil if the file system does not respond.
    package static func value<Value: Sendable>(at path: String, _ body: @escaping @Sendable () -> Value) -> Value? {
        guard let wait = wait.withLock({ $0 }) else { return body() }
        // Without descriptors or threads the caller's own thread does it.
        guard let reader = takeReader() else { return body() }
        let found = QuietMutex<Value?>(nil)
        let last = QuietMutex(path)
        let isAnswered = reader.run(atMost: wait.limit) {
            let isReached = Self.visit(path) { place in
                last.withLock { $0 = place }
                return !isSilent(place, wait)
            }
            guard isReached else { return }
            let value = body()
            found.withLock { $0 = value }
        }
        guard isAnswered else {
            reader.end()
            // The mount of the last place that was looked at does not respond.
            let key = key(of: last.withLock { $0 }, wait)
            Self.wait.withLock { if $0?.silent[key] == nil { $0?.silent[key] = path } }
            return nil
        }
        readers.withLock { $0.append(reader) }
        return found.withLock { $0 }
    }

    // MARK: Threads

    /// Threads that wait for something to look at: to start one for each file would take longer than looking.
    private static let readers = QuietMutex<[Reader]>([])

    private static func takeReader() -> Reader? {
        // A thread has the rights of the one that started it; no command acts for one user in two ways.
        let (user, group) = (geteuid(), getegid())
        return readers.withLock { readers in
            readers.lastIndex { $0.user == user && $0.group == group }.map { readers.remove(at: $0) }
        } ?? (try? Reader(user, group))
    }

    /// A thread that looks at one thing after the other.
    private final class Reader: Sendable {
        let user: uid_t
        let group: gid_t
        /// Nil ends the thread.
        private let work: Inbox<(@Sendable () -> Void)?>
        private let done: Inbox<Void>

        init(_ user: uid_t, _ group: gid_t) throws(SystemError) {
            (self.user, self.group) = (user, group)
            let (work, done) = (try Inbox<(@Sendable () -> Void)?>(), try Inbox<Void>())
            (self.work, self.done) = (work, done)
            try WorkerThread.start {
                while true {
                    _ = work.wait(atMost: Int64(Int32.max))
                    for next in work.drain() {
                        guard let body = next else { return }
                        body()
                        done.post(())
                    }
                }
            }
        }

        /// Runs `body` on the thread; returns whether it ended in time.
        func run(atMost seconds: Int, _ body: @escaping @Sendable () -> Void) -> Bool {
            work.post(body)
            return done.wait(atMost: Int64(seconds) * 1_000) && !done.drain().isEmpty
        }

        /// Ends the thread as soon as it can.
        func end() { work.post(nil) }
    }

    /// The same for a body that throws.
    ///
    /// - Parameter silence: the error if the file system does not respond, with ``words``.
    package static func require<Value: Sendable, Problem: Error>(
        at path: String, silence: @autoclosure () -> Problem,
        _ body: @escaping @Sendable () throws(Problem) -> Value
    ) throws(Problem) -> Value {
        guard wait.withLock({ $0 != nil }) else { return try body() }
        let result = value(at: path) { Result { () throws(Problem) in try body() } }
        guard let result else { throw silence() }
        return try result.get()
    }

    package static func require<Value: Sendable>(
        at path: String, _ body: @escaping @Sendable () throws(FileError) -> Value
    ) throws(FileError) -> Value {
        try require(at: path, silence: FileError(.notResponding, at: path, detail: words), body)
    }

    // MARK: Mounts

    private static func key(of path: String, _ wait: Wait) -> String {
        ProcessFolder(path)?.path ?? wait.mounts?.mount(of: path)?.point ?? "/"
    }

    private static func isSilent(_ path: String, _ wait: Wait) -> Bool {
        let key = key(of: path, wait)
        // If the root directory's mount does not respond, the next path may still be on another one.
        return key != "/" && wait.silent[key] != nil
    }

    /// Calls `look` with each place on the way, by a path without links, before it looks at that place. Returns false as soon as
    /// `look` does.
    private static func visit(_ path: String, _ look: (String) -> Bool) -> Bool {
        guard let folder = ProcessFolder(path) else { return LinkChain.walk(path, look) != nil }
        guard look(folder.path) else { return false }
        // A process may have other mounts, so its paths lead nowhere here.
        guard let file = folder.openFile(path) else { return true }
        return LinkChain.walk(file, look) != nil
    }

    /// The folder of a process in /proc.
    private struct ProcessFolder {
        let path: String

        init?(_ path: String) {
            let names = path.split(separator: "/", maxSplits: 2)
            guard names.count > 1, names[0] == "proc", Int32(names[1]) != nil else { return nil }
            self.path = "/proc/\(names[1])"
        }

        /// The place of a file that the process has open, if it has the mounts of this process.
        func openFile(_ descriptor: String) -> String? {
            guard descriptor.hasPrefix(path + "/fd/"), let file = ForeignFile.linkAtOnce(descriptor),
                file.hasPrefix("/"),
                ForeignFile.linkAtOnce(path + "/ns/mnt") == ForeignFile.linkAtOnce("/proc/self/ns/mnt")
            else { return nil }
            return file
        }
    }
}
