import CLinux
internal import Failures
internal import Glibc
import SystemPackage

/// Reads keys and files that decide about their use. They and all directories above them belong to root or the acting user, and
/// no other user may write to them.
package enum TrustedFile {
    package enum Use: Hashable, Sendable {
        /// Any user may read it.
        case configuration
        /// The acting user must be able to run it.
        case executable
        /// A key or its passphrase: readable by its owner and the acting user's primary group at most.
        case key
    }

    /// Names read in a directory at most: far more than a configuration has files.
    static let nameLimit = 10_000

    /// Opens a regular file of at most `limit` bytes.
    ///
    /// - Parameter isSecret: for `.key`: whether only the daemon's user should read the file at a real path, which others may
    ///   read now. Then a command may close it. Nil: whether it begins as a private key does.
    package static func open(
        _ path: String, for use: Use, as identity: Identity, limit: Int, isSecret: ((String) -> Bool)? = nil
    ) throws(FileError) -> OpenFile {
        let place = try GuardedWalk.place(path, .deciding, as: identity)
        try check(place, for: use, as: identity, isSecret)
        let file = try open(place, for: use, as: identity, limit: limit)
        // Checks the opened file itself, in case it is not the one found before.
        try check(file.status, file.path, file.descriptor.raw, in: place.directory, for: use, as: identity, isSecret)
        return file
    }

    private static func open(
        _ place: borrowing GuardedPlace, for use: Use, as identity: Identity, limit: Int
    ) throws(FileError) -> OpenFile {
        do throws(FileError) {
            return try OpenFile(place, limit: limit)
        } catch {
            guard use == .key, error.code == .permissionDenied, let found = place.found else { throw error }
            throw FileError(
                error.code, at: error.path, errno: error.errno, detail: error.detail,
                remedy: KeyFilePermissions(identity).remedyForReader(found, place.path))
        }
    }

    /// Reads a whole file; not for keys, which are read into secure memory.
    package static func read(
        _ path: String, for use: Use, as identity: Identity, limit: Int
    ) throws(FileError) -> FileContent {
        try DiskTimeout.require(at: path) { () throws(FileError) in
            try open(path, for: use, as: identity, limit: limit).content()
        }
    }

    /// Checks a file without opening it.
    @discardableResult
    package static func check(
        _ path: String, for use: Use, as identity: Identity
    ) throws(FileError) -> FileStatus {
        try DiskTimeout.require(at: path) { () throws(FileError) in
            try check(GuardedWalk.place(path, .deciding, as: identity), for: use, as: identity)
        }
    }

    /// The names of a directory that end with one of `endings`, in byte order, hidden ones left out.
    ///
    /// - Parameter ignoringCase: whether capitals in a name count as small letters.
    package static func names(
        in directory: String, ending endings: String..., ignoringCase: Bool = false, as identity: Identity
    ) throws(FileError) -> [String] {
        try DiskTimeout.require(at: directory) { () throws(FileError) in
            let listed = try GuardedWalk.directory(directory, .deciding, as: identity)
            var names: [String] = []
            for name in try listed.names(limit: nameLimit) {
                let text = name.string
                let compared = ignoringCase ? text.lowercased() : text
                guard endings.contains(where: compared.hasSuffix), !text.hasPrefix(".") else { continue }
                guard FilePath.Component(text) == name else {
                    throw FileError(
                        .systemError, at: listed.path.appending(name).string, errno: .illegalByteSequence,
                        detail: "its name is not UTF-8")
                }
                names.append(text)
            }
            return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        }
    }

    @discardableResult
    private static func check(
        _ place: borrowing GuardedPlace, for use: Use, as identity: Identity, _ isSecret: ((String) -> Bool)? = nil
    ) throws(FileError) -> FileStatus {
        let path = place.path
        guard let status = place.found else { throw FileError(.missing, at: path, errno: .noSuchFileOrDirectory) }
        try status.requireRegular(path)
        guard let handle = try place.directory.step(to: place.name),
            try FileStatus(of: handle.raw, path: path).isSameFile(as: status)
        else { throw FileError(.changedMeanwhile, at: path) }
        try check(status, path, handle.raw, in: place.directory, for: use, as: identity, isSecret)
        if use == .executable, !(try place.isExecutable()) {
            throw FileError(
                .permissionDenied, at: path, errno: .permissionDenied, detail: "it may not be executed",
                remedy: .say(
                    "let \(Owner.words(user: identity.user)) execute it",
                    run: .makeExecutable(PathComponent(FilePath(path), status, for: identity))))
        }
        return status
    }

    private static func check(
        _ status: FileStatus, _ path: String, _ handle: Int32, in directory: GuardedDirectory, for use: Use,
        as identity: Identity, _ isSecret: ((String) -> Bool)?
    ) throws(FileError) {
        if use == .key, identity.trusts(status.owner) {
            // Without these rights for the group, which are the mask, no entry has an effect.
            let list = status.mode & 0o070 == 0 ? nil : try AccessList(of: handle, path: path)
            return try KeyFilePermissions(identity, isSecret: isSecret).check(status, path, list)
        }
        guard let author = try UntrustedAuthor(of: status, handle, path, as: identity) else { return }
        throw author.error(
            at: path, inOpenDirectory: directory.status.isWritableByOthers,
            closing: isNamedLike(use, path) ? PathComponent(FilePath(path), status, for: identity) : nil)
    }

    /// Whether the file is one of this kind as far as its name shows. A wrong path may name any file of the machine, whose mode
    /// is then correct.
    private static func isNamedLike(_ use: Use, _ path: String) -> Bool {
        use == .executable || path.hasSuffix(".yaml") || path.hasSuffix(".yml")
    }
}
