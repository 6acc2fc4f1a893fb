import CLinux
internal import Failures
internal import Glibc
import SystemPackage

/// Reads keys and files that decide who may use one: they and all directories above them belong to root or the acting
/// user, and no other user may write to them.
package enum TrustedFile {
    package enum Use: Hashable, Sendable {
        /// Anybody may read it.
        case configuration
        /// The acting user must be able to run it.
        case executable
        /// A key or its passphrase: readable by its owner and the acting user's primary group at most.
        case key
    }

    /// Names read in a directory at most: far more than a configuration has files.
    static let nameLimit = 10_000

    /// Opens a regular file of at most `limit` bytes.
    package static func open(
        _ path: String, for use: Use, as identity: Identity, limit: Int
    ) throws(FileError) -> OpenFile {
        let place = try GuardedWalk.place(path, .deciding, as: identity)
        try check(place, for: use, as: identity)
        let file = try open(place, for: use, as: identity, limit: limit)
        // Checks the opened file itself, in case it is not the one found before.
        try check(file.status, file.path, in: place.directory, for: use, as: identity)
        if use == .key { try checkReaders(of: file, as: identity) }
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
                remedy: KeyFilePermissions(identity).remedy(found, place.path, isKey: false))
        }
    }

    /// Reads a whole file; not for keys, which are read into memory of their own.
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

    /// The names of a directory that end with `ending`, in byte order, hidden ones left out.
    package static func names(
        in directory: String, ending: String, as identity: Identity
    ) throws(FileError) -> [String] {
        try DiskTimeout.require(at: directory) { () throws(FileError) in
            try namesAtOnce(in: directory, ending: ending, as: identity)
        }
    }

    private static func namesAtOnce(
        in directory: String, ending: String, as identity: Identity
    ) throws(FileError) -> [String] {
        let listed = try GuardedWalk.directory(directory, .deciding, as: identity)
        var names: [String] = []
        for name in try listed.names(limit: nameLimit) {
            let text = name.string
            guard text.hasSuffix(ending), !text.hasPrefix(".") else { continue }
            guard FilePath.Component(text) == name else {
                throw FileError(
                    .systemError, at: listed.path.appending(name).string, errno: .illegalByteSequence,
                    detail: "its name is not UTF-8")
            }
            names.append(text)
        }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    @discardableResult
    private static func check(
        _ place: borrowing GuardedPlace, for use: Use, as identity: Identity
    ) throws(FileError) -> FileStatus {
        let path = place.path
        guard let status = place.found else { throw FileError(.missing, at: path, errno: .noSuchFileOrDirectory) }
        try status.requireRegular(path)
        try check(status, path, in: place.directory, for: use, as: identity)
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
        _ status: FileStatus, _ path: String, in directory: GuardedDirectory, for use: Use, as identity: Identity
    ) throws(FileError) {
        // What another user has written is looked at before it is trusted: no command does that.
        if !identity.trusts(status.owner) {
            throw FileError(
                .notGuarded, at: path, detail: "the file belongs to \(Owner.describe(user: status.owner))",
                remedy: directory.status.isWritableByOthers
                    ? .strangers(path)
                    : .say(
                        "look at what \(Owner.words(user: status.owner)) put there, then replace it with a copy that root owns",
                        see: .list(path)))
        }
        if use == .key { return try KeyFilePermissions(identity).check(status, path) }
        if status.isWritableByOthers {
            throw FileError(
                .notGuarded, at: path, detail: "the file is writable by \(PathRule.writers(status.mode))",
                remedy: .say(
                    "look at what they may have written there, then remove their write permission",
                    see: isNamedLike(use, path)
                        ? .removeWriting(from: PathComponent(FilePath(path), status, for: identity)) : nil))
        }
    }

    /// Whether the file is one of this kind as far as its name tells: a wrong path may name any file of the machine, whose
    /// mode then is as it should be.
    private static func isNamedLike(_ use: Use, _ path: String) -> Bool {
        use == .executable || path.hasSuffix(".yaml") || path.hasSuffix(".yml")
    }

    /// With an access list, the mode's group bits are its mask: who may read is only in the list itself.
    private static func checkReaders(of file: borrowing OpenFile, as identity: Identity) throws(FileError) {
        guard !identity.trusts(place: FilePath(file.path)),
            let list = try AccessList(of: file.descriptor.raw, path: file.path)
        else { return }
        let readers = list.otherReaders(than: identity, group: file.status.group)
        guard let reader = readers.first else { return }
        // The entry of the file's own group cannot be removed: there is no command then.
        let entries = readers.compactMap(\.entry)
        let key = PathComponent(FilePath(file.path), file.status, for: identity)
        throw FileError(
            .notGuarded, at: file.path, detail: "its access list lets \(reader.words) read it",
            remedy: .say(
                "remove them from its access list",
                run: entries.count == readers.count && PEMHeader.begins(file.path)
                    ? .removeReaders(entries, from: key) : nil))
    }
}
