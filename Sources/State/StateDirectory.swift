package import AppleClientSecret
internal import Failures
internal import Glibc
package import Linux
package import Model
internal import SystemPackage

/// The daemon's data across restarts: a record of each client, and the tag of its temporaries.
///
///     lock                  held as long as the daemon runs (StateLock)
///     temporaries           the tag of the names of temporary files
///     instance              identifies this daemon in its reports to others
///     boot                  how long the wall clock has run without being set (BootRecord)
///     clients/NAME.state    a client's record; one that is unusable ends in .damaged or .newer
///     reported-states.state the states last reported to operators
///
/// Losing it costs nothing but a second delivery and, if the outputs are gone as well, a new secret.
package final class StateDirectory: Sendable {
    private let files: StateReader
    /// Names of temporaries with this directory's tag, the same after a restart.
    package let naming: TemporaryNames
    private let lock: StateLock
    private let clients: HeldFile
    /// Its record of the clock when this was opened.
    package let clock: BootRecord

    private static let mode: UInt16 = 0o700

    /// Opens the directory, created when it is missing, and locks it as long as the object exists.
    ///
    /// - Parameters:
    ///   - former: the object in use until now: its names of temporaries stay in use.
    ///   - lock: the lock that the daemon has held until now, and holds from now on.
    ///
    /// Throws ``Failure/Code/stateLocked`` when another daemon holds it, ``Failure/Code/stateUnusable`` when it cannot
    /// be used: then the daemon runs without it, and holds a spare lock.
    package static func open(
        _ path: AbsolutePath, as identity: Identity, after former: StateDirectory? = nil,
        locking lock: StateLock = StateLock()
    ) throws(Failure) -> StateDirectory {
        do throws(FileError) {
            do throws(FileError) {
                return try open(path, as: identity, former, lock)
            } catch {
                if error.errno != .wouldBlock { try lock.takeSpare(path, as: identity) }
                throw error
            }
        } catch {
            if error.errno == .wouldBlock { throw Failure(.stateLocked, at: .path(path)) }
            throw unusable(error, path, for: identity.user)
        }
    }

    private static func open(
        _ path: AbsolutePath, as identity: Identity, _ former: StateDirectory?, _ lock: StateLock
    ) throws(FileError) -> StateDirectory {
        try prepare(path, as: identity)
        try lock.take(path)
        try GuardedPath.makeDirectory(path.description + "/clients", mode: mode, as: identity)
        let clients = try HeldFile(directory: path.description + "/clients", as: identity)
        let files = StateReader(in: path, as: identity)
        let naming = try tag(in: files, after: former)
        try naming.sweep(beside: path.description + "/lock", as: identity)
        try naming.sweep(beside: path.description + "/clients/lock", as: identity)
        let clock = files.readClock()
        let directory = StateDirectory(files, naming, lock, clients, clock)
        if !clock.wasUsedSinceBoot { directory.keep(clock.run) }
        return directory
    }

    private init(
        _ files: StateReader, _ naming: TemporaryNames, _ lock: StateLock, _ clients: HeldFile, _ clock: BootRecord
    ) {
        self.files = files
        self.naming = naming
        self.lock = lock
        self.clients = clients
        self.clock = clock
    }

    /// Creates the directory if it is missing. Throws unless it may be used and can be written to.
    private static func prepare(_ path: AbsolutePath, as identity: Identity) throws(FileError) {
        try GuardedPath.makeDirectory(path.description, mode: mode, as: identity)
        // A spare lock may be held of a file that could be only read.
        if let errno = FileStatus.problem(accessing: path.description, W_OK | X_OK) {
            let code: FailureCode = errno == .readOnlyFileSystem ? .readOnlyFileSystem : .permissionDenied
            throw FileError(code, at: path.description, errno: errno)
        }
    }

    package var path: AbsolutePath { files.path }

    /// Whether the path still leads to the opened directory. If not, it was emptied, replaced or mounted over. Then the records
    /// may be gone, and another daemon may hold the directory at this path. Two system calls.
    package var isInPlace: Bool { lock.isInPlace && clients.isInPlace }

    /// Whether it could be opened again now: its owner or mode may have changed, or its file system. Blocks.
    var isUsable: Bool { (try? Self.prepare(path, as: files.identity)) != nil }

    /// Paths in it that appear or vanish only when it is created or emptied.
    package static func watchedPaths(in path: AbsolutePath) -> [AbsolutePath] {
        ["clients", "lock"].compactMap { path.appending($0) }
    }

    private static func tag(
        in files: StateReader, after former: StateDirectory?
    ) throws(FileError) -> TemporaryNames {
        if let known = try files.readNaming(), former == nil || former?.naming.tag == known.tag { return known }
        let file = try AtomicFile(files.tagFile, as: files.identity, limit: StateReader.tagLimit)
        // Temporaries next to the outputs have the former directory's tag, and the next start must find them.
        if let former {
            try file.replace(with: Array(former.naming.tag.utf8), naming: former.naming)
            return former.naming
        }
        let fresh = TemporaryNames()
        // A daemon killed while it saved its tag has left a temporary with an unknown tag; under the lock it cannot be
        // any other program's.
        try fresh.sweep(beside: files.tagFile, as: files.identity, ofAnyTag: true)
        try file.replace(with: Array(fresh.tag.utf8), naming: fresh)
        return fresh
    }

    /// The record of a client, with its outputs from other clients' records; nil when nothing is known.
    ///
    /// A record that is damaged (``Failure/Code/stateDamaged``) or of a newer version (``Failure/Code/stateNewer``) is renamed
    /// before that is thrown. So the next call does not find it again.
    package func recall(
        _ client: ClientName, publishedAt places: Set<OutputPlace>
    ) throws(Failure) -> RecordWithSecrets? {
        do throws(Failure) { return try files.recall(client, publishedAt: places) } catch {
            DamagedRecord.setAside(files.file(of: client), for: error)
            throw error
        }
    }

    /// The reported states; nil when none are kept. Throws as ``recall(_:)`` does.
    package func recallReportedStates() throws(Failure) -> ReportedStates? {
        do throws(Failure) { return try files.readReportedStates() } catch {
            DamagedRecord.setAside(files.reportedStatesFile, for: error)
            throw error
        }
    }

    /// Keeps the observations of the clock.
    package func keep(_ run: ClockRun) { BootRecord.keep(run, in: path, as: files.identity, naming) }

    /// Saves the reported states; durable when it returns.
    package func keep(_ states: ReportedStates) throws(Failure) {
        try write(RecordFormat.encode(states), to: files.reportedStatesFile)
    }

    /// Saves a client's record; durable when it returns.
    package func keep(_ record: RecordWithSecrets, of client: ClientName) throws(Failure) {
        try write(RecordFormat.encode(record, of: client), to: files.file(of: client))
    }

    /// Forgets what applications of clients that are not configured were given (``Record/afterAbsence``), so that a configuration
    /// that is rolled back finds only the secrets. Removes such a record once every secret in it had expired before `moment`. A
    /// record that cannot be changed or removed stays.
    package func tidy(keeping configured: Set<ClientName>, expiredBefore moment: WallTime) {
        files.forgetHistory()
        for client in files.clients() where !configured.contains(client) {
            guard let kept = try? files.read(client) else { continue }
            let record = kept.record.afterAbsence
            if kept.isExpired(before: moment) {
                _ = unsafe FilePath(files.file(of: client)).withPlatformString { unsafe unlink($0) }
            } else if record != kept.record {
                try? keep(RecordWithSecrets(record, current: kept.current, candidate: kept.candidate), of: client)
            }
        }
    }

    private func write(_ bytes: [UInt8], to file: String) throws(Failure) {
        do throws(FileError) {
            try AtomicFile.overwrite(
                file, with: bytes, mode: 0o600, limit: RecordFormat.sizeLimit, as: files.identity, naming: naming)
        } catch {
            throw Self.unusable(error, path, for: files.identity.user)
        }
    }

    /// Identifies this daemon among others with the same host name: 32 hexadecimal digits, created when there are none. Blocks.
    package func instance() throws(Failure) -> String {
        if let known = try files.readInstance() { return known }
        let drawn = Hex.encode((0..<16).map { _ in UInt8.random(in: 0 ... .max) })
        try write(Array(drawn.utf8), to: files.instanceFile)
        return drawn
    }
}
