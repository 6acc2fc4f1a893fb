import CLinux
package import Failures
import Glibc
import SystemPackage

/// Reads files in places that others may change: a walk follows no link, and passes no directory, by which another user
/// could redirect it.
package enum GuardedPath {
    /// Reads a regular file; nil when there is none. Never blocks on a FIFO.
    ///
    /// - Parameter limit: in bytes; a larger file is refused.
    package static func read(
        _ path: String, as identity: Identity, limit: Int
    ) throws(FileError) -> FileContent? {
        try DiskTimeout.require(at: path) { () throws(FileError) in
            try GuardedWalk.untilSettled { () throws(FileError) in
                let place = try GuardedWalk.place(path, .publishing, as: identity)
                guard let found = place.found else { return nil }
                do throws(FileError) {
                    let file = try OpenFile(place, limit: limit)
                    try file.status.requireName(file.path)
                    let content = try file.content()
                    try place.confirm(content.status)
                    return content
                } catch {
                    let isForeign = error.code == .permissionDenied && found.owner != identity.user
                    throw place.blamed(
                        isForeign ? FileError.foreign(found, at: place.path, in: place.directory.status) : error,
                        for: identity)
                }
            }
        }
    }

    /// The remedy that removes the first bad link on the way to an output of `user`. Such a link belongs neither to root nor to
    /// that user. Or it is that user's and leads to another user's file. Nil if this process finds none, or if
    /// ``rootsOwn(_:for:)`` finds the target: without the link an application would lose the rest of that file.
    package static func untrustedLink(on path: String, for user: UInt32) -> Remedy? {
        do throws(FileError) {
            return try DiskTimeout.require(at: path) { () throws(FileError) -> Remedy? in
                let identity = Identity(user: user, group: user)
                let place = try GuardedWalk.place(path, .publishing, as: identity)
                if place.strangersLink == nil, place.isRootsOwn(at: path, for: user) { return nil }
                if let link = place.strangersLink ?? place.strayLink { throw link.error(for: identity) }
                return nil
            }
        } catch {
            return error.code == .untrustedLink ? error.remedy : nil
        }
    }

    /// The regular file of root to which an output's path of `user` leads, if that user might have had one of the same name. No
    /// link leads there, or links of that user and of root lead into that user's own directory. It has no other name. Nil if this
    /// process cannot tell.
    package static func rootsOwn(_ path: String, for user: UInt32) -> String? {
        DiskTimeout.value(at: path) {
            let place = try? GuardedWalk.place(path, .publishing, as: Identity(user: user, group: user))
            return place.flatMap { $0.isRootsOwn(at: path, for: user) ? $0.path : nil }
        } ?? nil
    }

    /// Reads a regular file whose content is signed, so that other users may write there; nil when there is none.
    /// Never blocks on a FIFO.
    ///
    /// - Parameter limit: in bytes; a larger file is refused.
    package static func readProving(
        _ path: String, as identity: Identity, limit: Int
    ) throws(FileError) -> FileContent? {
        try DiskTimeout.require(at: path) { () throws(FileError) in
            try GuardedWalk.untilSettled { () throws(FileError) in
                let place = try GuardedWalk.place(path, .proving, as: identity)
                guard place.found != nil else { return nil }
                return try OpenFile(place, limit: limit).content()
            }
        }
    }

    /// The real path of a directory that is fit to publish in.
    package static func directory(
        _ path: String, as identity: Identity
    ) throws(FileError) -> String {
        try DiskTimeout.require(at: path) { () throws(FileError) in
            try GuardedWalk.directory(path, .publishing, as: identity).path.string
        }
    }

    /// The real path of the directory in which a published file, which need not exist, is replaced.
    ///
    /// - Parameter isWritten: whether this process writes there. Then obstacles to writing are thrown too, as far as they can be
    ///   found without writing.
    package static func home(
        of path: String, as identity: Identity, isWritten: Bool = false
    ) throws(FileError) -> String {
        try DiskTimeout.require(at: path) { () throws(FileError) in
            let place = try GuardedWalk.place(path, .publishing, as: identity)
            if let link = place.strangersLink { throw link.error(for: identity) }
            let directory = place.directory.path.string
            if isWritten, let error = WritableDirectory.problem(with: directory, as: identity) {
                throw place.blamed(error, for: identity)
            }
            return directory
        }
    }

    /// Whether only root and this user could have put something at an absolute path, or changed the way to it. No other user may
    /// write to its directory, even if that is sticky.
    package static func isOnlyForTrusted(_ path: String, as identity: Identity) -> Bool {
        DiskTimeout.value(at: path) {
            guard let place = try? GuardedWalk.place(path, .deciding, as: identity) else { return false }
            return !place.directory.status.isWritableByOthers
        } ?? false
    }

    /// Creates a directory of this user's own; its parent must exist and pass the rules for publishing. An existing
    /// directory must belong to this user and no other user may write to it.
    package static func makeDirectory(_ path: String, mode: UInt16, as identity: Identity) throws(FileError) {
        let place = try GuardedWalk.place(path, .publishing, as: identity)
        if let found = place.found {
            guard found.kind == .directory else { throw FileError(.notADirectory, at: place.path) }
            guard found.owner == identity.user else {
                throw FileError(
                    .foreignOwner, at: place.path,
                    detail: "the directory belongs to \(Owner.describe(user: found.owner))",
                    remedy: place.directory.status.isWritableByOthers
                        ? .strangers(place.path)
                        : .say(
                            found.owner == 0
                                ? "give it back to \(Owner.words(user: identity.user)), or use another directory"
                                : "run the daemon as \(Owner.words(user: found.owner)), or use another directory"))
            }
            guard found.mode & 0o022 == 0 else {
                throw FileError(
                    .unguardedDirectory, at: place.path,
                    remedy: .say("use another directory, or remove write permission for its group and others"))
            }
            return
        }
        let made = unsafe place.name.withPlatformString {
            unsafe mkdirat(place.directory.descriptor.raw, $0, mode_t(mode))
        }
        guard made == 0 else {
            guard errno == EEXIST else { throw FileError(of: Errno(rawValue: errno), at: place.path) }
            return
        }
        // Restores the mode bits that the umask cleared.
        guard let handle = try place.directory.step(to: place.name) else { return }
        let opened = Descriptor(adopting: try checked(clinux_path_open_directory(handle.raw), place.path))
        guard fchmod(opened.raw, mode_t(mode)) == 0 else {
            throw FileError(of: Errno(rawValue: errno), at: place.path)
        }
    }
}
