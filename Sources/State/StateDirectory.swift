package import AppleClientSecret
internal import Failures
internal import Glibc
package import Linux
package import Model
internal import Outputs
internal import SystemPackage

/// What the daemon keeps across restarts: a record of each client, and the tag of its temporaries.
///
///     lock                  held for as long as the daemon lives
///     temporaries           the tag of the names of temporary files
///     instance              identifies this daemon in its reports to others
///     boot                  when the machine was started that this was last used on, in seconds since the epoch
///     clients/NAME.state    a client's record; one that is unusable ends in .damaged or .newer
///     reported-states.state the states last reported to operators
///
/// Losing it costs nothing but a second delivery and, if the outputs are gone as well, a new secret.
package final class StateDirectory: Sendable {
    package let path: AbsolutePath
    /// Names of temporaries with this directory's tag, the same after a restart.
    package let naming: TemporaryNames
    private let identity: Identity
    private let format: RecordFormat
    private let lock: HeldFile
    private let clients: HeldFile
    /// What all records knew of outputs when a client with a new output last asked; nil once they may know more.
    private let history = QuietMutex<OutputHistory?>(nil)
    /// Whether a daemon used it before since the machine was started.
    package let wasUsedSinceBoot: Bool

    private static let mode: UInt16 = 0o700
    private static let tagLimit = 64

    /// Opens the directory, created when it is missing, and locks it for as long as the object lives.
    ///
    /// - Parameter former: the object in use until now for this path: its names of temporaries stay in use, and its
    ///   lock is taken over if it is still there.
    ///
    /// Throws ``Failure/Code/stateLocked`` when another daemon holds it, ``Failure/Code/stateUnusable`` when it cannot
    /// be used: then the daemon runs without it.
    package static func open(
        _ path: AbsolutePath, as identity: Identity, after former: StateDirectory? = nil,
        sha256: @escaping @Sendable ([UInt8]) -> [UInt8]
    ) throws(Failure) -> StateDirectory {
        do throws(FileError) {
            try GuardedPath.makeDirectory(path.description, mode: mode, as: identity)
            try GuardedPath.makeDirectory(path.description + "/clients", mode: mode, as: identity)
            let clients = try HeldFile(directory: path.description + "/clients", as: identity)
            let lock = try takeLock(path, after: former)
            let naming = try tag(in: path, as: identity, after: former)
            try naming.sweep(beside: path.description + "/lock", as: identity)
            try naming.sweep(beside: path.description + "/clients/lock", as: identity)
            let wasUsedSinceBoot = noteBoot(in: path, as: identity, naming)
            return StateDirectory(
                path, naming, identity, RecordFormat(sha256: sha256), lock, clients, wasUsedSinceBoot: wasUsedSinceBoot)
        } catch {
            if error.errno == .wouldBlock { throw Failure(.stateLocked, at: .path(path)) }
            throw unusable(error, path)
        }
    }

    private init(
        _ path: AbsolutePath, _ naming: TemporaryNames, _ identity: Identity, _ format: RecordFormat,
        _ lock: HeldFile, _ clients: HeldFile, wasUsedSinceBoot: Bool
    ) {
        self.path = path
        self.naming = naming
        self.identity = identity
        self.format = format
        self.lock = lock
        self.clients = clients
        self.wasUsedSinceBoot = wasUsedSinceBoot
    }

    /// Whether the path still leads to what was opened. If not, because the directory was emptied, replaced or mounted
    /// over, the records may be gone, and another daemon may hold the directory at this path. Two system calls.
    package var isInPlace: Bool { lock.isInPlace && clients.isInPlace }

    /// Paths in it that appear or vanish only when it is created or emptied.
    package static func watchedPaths(in path: AbsolutePath) -> [AbsolutePath] {
        ["clients", "lock"].compactMap { path.appending($0) }
    }

    private static func takeLock(
        _ path: AbsolutePath, after former: StateDirectory?
    ) throws(FileError) -> HeldFile {
        if let former, former.path == path, former.lock.isInPlace { return former.lock }
        let file = path.description + "/lock"
        let held = try FileLock.take(file)
        guard let lock = held else { throw FileError(.systemError, at: path.description, errno: .wouldBlock) }
        return try HeldFile(lock, at: file)
    }

    /// Keeps when the machine was started, and returns whether that was kept there already. By the clocks: the service's sandbox
    /// hides the kernel's boot id. A clock that was set meanwhile makes it look like another start.
    private static func noteBoot(
        in path: AbsolutePath, as identity: Identity, _ naming: TemporaryNames
    ) -> Bool {
        let file = path.description + "/boot"
        let boot = Clocks.wallSeconds() - Clocks.bootMilliseconds() / 1_000
        if let kept = try? GuardedPath.read(file, as: identity, limit: tagLimit),
            let known = Int64(String(decoding: kept.bytes, as: UTF8.self)),
            (boot - bootTolerance...boot + bootTolerance).contains(known)
        {
            return true
        }
        try? AtomicFile(file, as: identity).replace(with: Array(String(boot).utf8), naming: naming)
        return false
    }

    /// In seconds: clocks are slewed, and two starts of one machine are further apart.
    private static let bootTolerance: Int64 = 60

    private static func tag(
        in path: AbsolutePath, as identity: Identity, after former: StateDirectory?
    ) throws(FileError) -> TemporaryNames {
        let file = path.description + "/temporaries"
        if let content = try GuardedPath.read(file, as: identity, limit: tagLimit),
            let known = TemporaryNames(tag: String(decoding: content.bytes, as: UTF8.self)),
            former == nil || former?.naming.tag == known.tag
        {
            return known
        }
        // Temporaries next to the outputs have the former directory's tag, and the next start must find them.
        if let former {
            try AtomicFile(file, as: identity).replace(with: Array(former.naming.tag.utf8), naming: former.naming)
            return former.naming
        }
        let fresh = try TemporaryNames()
        // A daemon killed while it saved its tag has left a temporary with an unknown tag; under the lock it cannot be
        // anybody else's.
        try fresh.sweep(beside: file, as: identity, ofAnyTag: true)
        try AtomicFile(file, as: identity).replace(with: Array(fresh.tag.utf8), naming: fresh)
        return fresh
    }

    /// The record of a client, with what other clients' records know of its outputs; nil when nothing is known.
    ///
    /// A record that is damaged (``Failure/Code/stateDamaged``) or of a newer version (``Failure/Code/stateNewer``) is
    /// renamed before that is thrown: the next call does not find it again.
    package func recall(
        _ client: ClientName, publishedAt places: Set<OutputPlace>
    ) throws(Failure) -> ClientRecord? {
        do throws(Failure) {
            let own = try Self.read(client, in: path, as: identity, format)
            return OutputHistory.complete(own, at: places) {
                history.withLock { known in
                    if known == nil { known = Self.history(in: path, as: identity, format) }
                    return known ?? OutputHistory()
                }
            }
        } catch {
            setAside(Self.file(of: client, in: path), for: error)
            throw error
        }
    }

    /// The reported states; nil when none are kept. Throws as ``recall(_:)`` does.
    package func recallReportedStates() throws(Failure) -> ReportedStates? {
        let file = Self.reportedStatesFile(in: path)
        do throws(Failure) {
            guard let bytes = try Self.bytes(of: file, .path(path), in: path, as: identity) else { return nil }
            do throws(RecordFormat.Flaw) {
                return try format.decodeReportedStates(bytes)
            } catch {
                throw Failure(
                    error == .newer ? .stateNewer : .stateDamaged, at: .path(path), detail: "reported-states.state")
            }
        } catch {
            setAside(file, for: error)
            throw error
        }
    }

    /// Saves the reported states; durable when it returns.
    package func keep(_ states: ReportedStates) throws(Failure) {
        try write(format.encode(states), to: Self.reportedStatesFile(in: path))
    }

    /// The record of a client, read without creating or locking the directory: for use outside the daemon.
    package static func peek(
        _ client: ClientName, publishedAt places: Set<OutputPlace> = [], in path: AbsolutePath, as identity: Identity,
        sha256: @escaping @Sendable ([UInt8]) -> [UInt8]
    ) throws(Failure) -> ClientRecord? {
        let format = RecordFormat(sha256: sha256)
        return OutputHistory.complete(try read(client, in: path, as: identity, format), at: places) {
            history(in: path, as: identity, format)
        }
    }

    /// What all records together know of outputs. One that cannot be read says nothing.
    private static func history(in path: AbsolutePath, as identity: Identity, _ format: RecordFormat) -> OutputHistory {
        clients(in: path, as: identity).reduce(into: OutputHistory()) { history, client in
            if let kept = try? read(client, in: path, as: identity, format) { history.add(kept.record) }
        }
    }

    private static func read(
        _ client: ClientName, in path: AbsolutePath, as identity: Identity, _ format: RecordFormat
    ) throws(Failure) -> ClientRecord? {
        let file = file(of: client, in: path)
        var place: Failure.Place { AbsolutePath(file).map(Failure.Place.path) ?? .client(client) }
        guard let bytes = try bytes(of: file, place, in: path, as: identity) else { return nil }
        do throws(RecordFormat.Flaw) {
            return try format.decode(bytes, of: client)
        } catch {
            throw Failure(error == .newer ? .stateNewer : .stateDamaged, at: place)
        }
    }

    private static func bytes(
        of file: String, _ place: @autoclosure () -> Failure.Place, in path: AbsolutePath, as identity: Identity
    ) throws(Failure) -> [UInt8]? {
        let content: FileContent?
        do throws(FileError) {
            content = try GuardedPath.read(file, as: identity, limit: RecordFormat.sizeLimit)
        } catch {
            if error.code == .directoryMissing { return nil }
            if error.code == .fileTooLarge || error.code == .notARegularFile {
                throw Failure(.stateDamaged, at: place(), detail: error.detail)
            }
            throw unusable(error, path)
        }
        guard let content else { return nil }
        // A record that others could have written is not trusted.
        guard identity.trusts(content.status.owner), content.status.mode & 0o022 == 0 else {
            throw Failure(.stateDamaged, at: place(), detail: "others may have written it")
        }
        return content.bytes
    }

    /// Saves a client's record; durable when it returns.
    package func keep(_ record: ClientRecord, of client: ClientName) throws(Failure) {
        try write(format.encode(record, of: client), to: Self.file(of: client, in: path))
    }

    /// Removes records of clients that are not configured, once every secret in them had expired before `moment`; until
    /// then a configuration that is rolled back finds its records. What cannot be removed stays.
    ///
    package func tidy(keeping configured: Set<ClientName>, expiredBefore moment: WallTime) {
        history.withLock { $0 = nil }
        for client in Self.clients(in: path, as: identity) where !configured.contains(client) {
            guard let kept = try? Self.read(client, in: path, as: identity, format) else { continue }
            if kept.isExpired(before: moment) {
                _ = unsafe FilePath(Self.file(of: client, in: path)).withPlatformString { unsafe unlink($0) }
            }
        }
    }

    /// The clients that have a record.
    private static func clients(in path: AbsolutePath, as identity: Identity) -> [ClientName] {
        let names = (try? TrustedFile.names(in: path.description + "/clients", ending: ".state", as: identity)) ?? []
        return names.compactMap { ClientName($0.dropLast(".state".count)) }
    }

    private func write(_ bytes: [UInt8], to file: String) throws(Failure) {
        do throws(FileError) {
            try AtomicFile.overwrite(
                file, with: bytes, mode: 0o600, as: identity, naming: naming)
        } catch {
            throw Self.unusable(error, path)
        }
    }

    /// Identifies this daemon among others with the same host name: 32 hexadecimal digits, made when there are none. Blocks.
    package func instance() throws(Failure) -> String {
        let file = "\(path)/instance"
        let bytes = try Self.bytes(of: file, .path(path), in: path, as: identity)
        if let known = bytes.map({ String(decoding: $0, as: UTF8.self) }), Hex.isEncoded(known, digits: 32) {
            return known
        }
        let drawn = Hex.encode((0..<16).map { _ in UInt8.random(in: 0 ... .max) })
        try write(Array(drawn.utf8), to: file)
        return drawn
    }

    /// Renames an unusable record. Of each kind the latest is kept, for operators to inspect.
    private func setAside(_ path: String, for failure: Failure) {
        let kind: String
        switch failure.code {
        case .stateDamaged: kind = "damaged"
        case .stateNewer: kind = "newer"
        default: return
        }
        let file = FilePath(path)
        _ = unsafe file.withPlatformString { from in
            unsafe FilePath(file.string + "." + kind).withPlatformString { to in unsafe rename(from, to) }
        }
    }

    private static func file(of client: ClientName, in path: AbsolutePath) -> String {
        "\(path)/clients/\(client).state"
    }

    private static func reportedStatesFile(in path: AbsolutePath) -> String {
        "\(path)/reported-states.state"
    }

    private static func unusable(_ error: FileError, _ path: AbsolutePath) -> Failure {
        // The message names the path component at fault.
        let failure = Failure(error, at: AbsolutePath(error.path) ?? path)
        return Failure(
            .stateUnusable, at: .path(path), detail: failure.message, remedy: remedy(error, path) ?? failure.remedy)
    }

    /// systemd creates the service's `StateDirectory=` again when the service starts; the service itself cannot,
    /// because the directory above is read-only to it.
    private static func remedy(_ error: FileError, _ path: AbsolutePath) -> Remedy? {
        if [.isDirectory, .notADirectory, .notARegularFile].contains(error.code) {
            return .say("look at it, then remove it, or name another directory as \"state_dir\"")
        }
        guard [.missing, .directoryMissing, .readOnlyFileSystem, .permissionDenied].contains(error.code),
            error.remedy == nil
        else { return error.remedy }
        let ofSystemd = unsafe getenv("STATE_DIRECTORY").map { unsafe String(cString: $0) } ?? ""
        guard ofSystemd.split(separator: ":").first != path.description[...] else {
            return .say("have systemd create it again", run: .restart())
        }
        let user = Identity.current().user
        guard let status = FileStatus.following(path.description) else {
            return OutputRemedy.making(path, for: user, mode: "0700")
        }
        let real = RealPath.of(path.description)
        if status.owner == user, let cause = ReadOnlyCause.of(real) {
            return .say("let the daemon write there", run: .letWrite(to: real, readOnlyBy: cause))
        }
        return .say("name a directory that belongs to \(Owner.argument(user: user)) as \"state_dir\"")
    }

    /// Why the directory could not be used; nil when it could. Changes nothing.
    package static func obstacle(to path: AbsolutePath, as identity: Identity) -> Failure? {
        // A missing one is made later, which needs a writable parent.
        let isThere = FileStatus.following(path.description) != nil
        let place = isThere ? path : path.directory
        func making() -> Remedy? { isThere ? nil : OutputRemedy.making(path, for: identity.user, mode: "0700") }
        do {
            let directory = try GuardedPath.directory(place.description, as: identity)
            if unsafe access(directory, W_OK | X_OK) == 0 { return nil }
            return Failure(
                .stateUnusable, at: .path(path), cause: errno, detail: isThere ? nil : directory, remedy: making())
        } catch {
            let isMissing = [.missing, .directoryMissing].contains(error.code)
            return Failure(
                .stateUnusable, at: .path(path), cause: error.cause, detail: Failure(error, at: place).message,
                remedy: error.remedy ?? (isMissing ? making() : nil))
        }
    }
}
