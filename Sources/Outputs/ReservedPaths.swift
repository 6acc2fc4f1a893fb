internal import Failures
internal import Glibc
package import Linux
package import Model
internal import SystemPackage

/// The files that no output may be, by any path: a key, a passphrase, a program, the configuration, the state directory, or the
/// file of another output.
///
/// The configuration's text is not enough: links lead elsewhere, and may change after it was read. So the file itself
/// is checked, right before it is replaced. A `.p8` can be downloaded only once.
package final class ReservedPaths: Sendable {
    private struct Paths {
        var trusted: [FilePath] = []
        var inputs: Set<AbsolutePath> = []
        var outputs: Set<AbsolutePath> = []
        var state: String?
        var mounts: MountTable?
        /// The places of the inputs by their own paths.
        var inputPlaces: Set<Place> = []
        /// The output that names each place by its own path, without a link; of several, by bind mounts, the first in order.
        var named: [Place: AbsolutePath] = [:]
        /// Which file each input is; nil: it was not found, or not in time.
        var files: [AbsolutePath: FileStatus?] = [:]
        /// How often each input was observed.
        var observations: [AbsolutePath: Int] = [:]
        /// Inputs that are being observed.
        var asked: Set<AbsolutePath> = []
        /// The output that claimed each place first.
        var claims: [Place: AbsolutePath] = [:]

        /// Real paths of files, none of them outputs, that this process wrote.
        var own: Set<String> = []
        /// The last seen place of each file. Its content stays there: a rename over another output must not move it.
        var homes: [FileMark: Home] = [:]

        /// The file that a real path leads to: by a bind mount a file has several.
        func place(_ realPath: String) -> Place {
            mounts?.place(of: realPath) ?? Place(device: "", path: realPath)
        }

        mutating func locate() {
            inputPlaces = Set(inputs.map { place($0.description) })
            named = Dictionary(outputs.map { (place($0.description), $0) }, uniquingKeysWith: min)
        }

        func isInput(_ file: FileStatus) -> Bool { files.values.contains { $0?.isSameFile(as: file) == true } }

        /// Whether a real path, which leads to this place, is the state directory or in it.
        func isInState(_ realPath: String, _ place: Place) -> Bool {
            guard let state else { return false }
            let home = self.place(state)
            return RealPath.isAt(realPath, orBelow: state)
                || home.device == place.device && RealPath.isAt(place.path, orBelow: home.path)
        }

        /// Claims a place for an output. Returns the other output whose file it is already.
        ///
        /// An output that names the file by its real path has it, and links to it do not, whichever comes first. After a
        /// restart another one could come first, and applications would read the other client's secret.
        mutating func claim(_ place: Place, for output: AbsolutePath) -> AbsolutePath? {
            if let other = named[place] ?? claims[place], other != output, outputs.contains(other) { return other }
            claims[place] = output
            return nil
        }
    }

    private typealias Place = MountTable.Place

    private struct Home {
        let place: Place
        /// Whether it held more than the daemon's secrets.
        let otherLines: Bool
    }

    /// The part of a file's identity that a rename keeps.
    private struct FileMark: Hashable {
        let device: UInt64
        let inode: UInt64
        let size: Int
        let modified: Int64

        init(_ identity: FileIdentity) {
            (device, inode, size, modified) = (identity.device, identity.inode, identity.size, identity.modified)
        }
    }

    private let paths = QuietMutex(Paths())
    /// One lane for each directory with inputs.
    private let pool = WorkerPool<AbsolutePath>()

    /// In milliseconds: much longer than a working file system takes to answer, and a delay that an output can bear.
    private static let timeout: Int64 = 1_000

    private let status: @Sendable (String) -> FileStatus?

    package init() {
        status = { FileStatus.following($0) }
    }

    /// - Parameter status: takes the place of ``Linux/FileStatus/following(_:)`` in tests.
    init(status: @escaping @Sendable (String) -> FileStatus?) {
        self.status = status
    }

    /// Sets the paths that a configuration reads and writes.
    ///
    /// - Parameters:
    ///   - inputs: keys, passphrases, programs and the configuration's own files.
    ///   - state: the state directory's real path; nil when there is none.
    ///   - trusted: directories where other users' rights to outputs and keys are not checked.
    package func set(
        inputs: Set<AbsolutePath>, outputs: Set<AbsolutePath>, state: String?, trusted: [AbsolutePath] = []
    ) {
        paths.withLock { paths in
            paths.trusted = trusted.map { FilePath($0.description) }
            paths.inputs = inputs
            paths.outputs = outputs
            paths.state = state
            // Observations of inputs that stay remain valid, also those under way: a write may wait for one.
            paths.files = paths.files.filter { inputs.contains($0.key) }
            paths.observations = paths.observations.filter { inputs.contains($0.key) }
            paths.claims = [:]
            paths.homes = [:]
            paths.locate()
        }
    }

    /// Sets the mounts by which paths lead to files; nil if they are not known: then each path is one of its own.
    package func set(mounts: MountTable?) {
        paths.withLock { paths in
            guard paths.mounts != mounts else { return }
            paths.mounts = mounts
            paths.locate()
        }
    }

    /// Observes every input again before the next write, because this process gets no notice of a replaced one.
    package func forgetInputs() { paths.withLock { $0.files = [:] } }

    /// The user that reads keys and writes outputs, with the configured trusted directories.
    package func trusting(_ identity: Identity) -> Identity {
        let trusted = paths.withLock { $0.trusted }
        return trusted.isEmpty ? identity : identity.trusting(trusted)
    }

    /// Records which file an input is now. Blocks on its file system.
    package func note(_ input: AbsolutePath) {
        let file = status(input.description)
        paths.withLock { paths in
            paths.asked.remove(input)
            guard paths.inputs.contains(input) else { return }
            paths.files[input] = .some(file)
            paths.observations[input, default: 0] += 1
        }
    }

    /// Records that this process wrote a file, whose content is then no other program's, however damaged.
    func noteOwn(_ realPath: String) { paths.withLock { _ = $0.own.insert(realPath) } }

    func isOwn(_ realPath: String) -> Bool { paths.withLock { $0.own.contains(realPath) } }

    /// Whether a file is known to be an input.
    func isInput(_ file: FileStatus) -> Bool {
        paths.withLock { $0.isInput(file) }
    }

    /// Throws unless `target` may be replaced as an output. Returns whether its content was moved there from another output
    /// (see ``claim(_:_:for:)``).
    func check(_ target: borrowing AtomicFile, for file: FileSpec) throws(Failure) -> Bool {
        let path = target.path
        let output = file.path
        findInputs()
        if let found = target.content?.status { observeAgain(inputsLike: found) }
        let isReserved = paths.withLock { paths in
            let place = paths.place(path)
            return paths.isInState(path, place) || paths.inputPlaces.contains(place)
                || target.content.map { paths.isInput($0.status) } == true
        }
        if isReserved { throw Failure(.outputIsInput, at: .path(output)) }
        let wasMoved = try claim(path, target.content?.status, for: output)
        if let content = target.content, let words = Self.foreignContent(content.bytes, file.format) {
            throw Failure(
                .outputForeign, at: .path(output), detail: words, remedy: .say("write another path for this output"))
        }
        return wasMoved
    }

    /// Claims the file at this real path. Returns whether its content was moved there from another output. The file counts as
    /// absent then: nothing of that content may stay where other users may read it.
    ///
    /// Throws if the file is that of another output, or has lines of others that were moved there with it.
    func claim(_ realPath: String, _ found: FileStatus?, for output: AbsolutePath) throws(Failure) -> Bool {
        let (other, moved) = paths.withLock { paths -> (AbsolutePath?, (Home, AbsolutePath)?) in
            let place = paths.place(realPath)
            if let other = paths.claim(place, for: output) { return (other, nil) }
            guard let found, found.size > 0, let home = paths.homes[FileMark(found.identity)],
                home.place != place, let owner = paths.claims[home.place], owner != output
            else { return (nil, nil) }
            return (nil, (home, owner))
        }
        if let other { throw Failure(.sameFile, at: .path(output), detail: other.description) }
        guard let (home, owner) = moved else { return false }
        guard home.otherLines else { return true }
        throw Failure(
            .outputForeign, at: .path(output), detail: "it was \(owner) and was moved here with its other lines",
            remedy: .say("move it back to \(Printable.name(owner.description)), or remove it if it is not needed"))
    }

    /// Records where a file is, and whether it holds more than the daemon's secrets.
    func noteHome(of found: FileStatus, at realPath: String, otherLines: Bool) {
        guard found.size > 0 else { return }
        paths.withLock { paths in
            // Each replacement leaves a mark: far more of them than outputs are old ones.
            if paths.homes.count > 4 * paths.outputs.count + Self.spareHomes { paths.homes = [:] }
            paths.homes[FileMark(found.identity)] = Home(place: paths.place(realPath), otherLines: otherLines)
        }
    }

    private static let spareHomes = 64

    /// Finds out which files the inputs are, as far as not known yet.
    ///
    /// One of them may be on a file system that does not respond, which must not delay writes elsewhere. The daemon waits for
    /// it only briefly, and then compares only its path. No output that could be opened just now is there.
    private func findInputs() {
        let missing = paths.withLock { paths in paths.inputs.filter { paths.files[$0] == nil } }
        observe(missing)
        paths.withLock { paths in
            for input in missing.intersection(paths.inputs) where paths.files[input] == nil {
                paths.files[input] = .some(nil)
            }
        }
    }

    /// An input that was replaced after its observation may have left its inode to an output: observes such inputs
    /// again. Until one is known to be another file, it counts as the old one.
    private func observeAgain(inputsLike found: FileStatus) {
        observe(paths.withLock { Set($0.files.filter { $0.value?.isSameFile(as: found) == true }.keys) })
    }

    /// Observes which files these inputs are, and waits at most ``timeout``.
    private func observe(_ inputs: Set<AbsolutePath>) {
        guard !inputs.isEmpty else { return }
        let observations = paths.withLock { $0.observations }
        for input in inputs where paths.withLock({ $0.asked.insert(input).inserted }) {
            do throws(SystemError) {
                try pool.run(in: input.directory) { [self] in note(input) }
            } catch {
                paths.withLock { _ = $0.asked.remove(input) }
            }
        }
        let deadline = Deadline(in: Self.timeout)
        while paths.withLock({ paths in
            inputs.contains { paths.inputs.contains($0) && paths.observations[$0] == observations[$0] }
        }), !deadline.hasPassed { usleep(500) }
    }

    /// A description of content that is never our secret, however damaged; nil for anything else. A file that others write to
    /// may be a script.
    private static func foreignContent(_ bytes: [UInt8], _ format: FileFormat) -> String? {
        if bytes.starts(with: Array("-----BEGIN ".utf8)) { return "it is PEM, such as a key" }
        return !format.isShared && bytes.starts(with: Array("#!".utf8)) ? "it is a program" : nil
    }
}
