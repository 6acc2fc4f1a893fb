import CLinux
internal import Failures
import Glibc
import SystemPackage

/// A file that is replaced atomically: readers see the old content or the new, even after a power cut.
///
/// `init` finds, checks and reads the file; ``replace(with:mode:group:keeping:overWriters:naming:)`` replaces it if it is still
/// the one that was read.
package struct AtomicFile: ~Copyable {
    /// The file's content; nil: there is none.
    package let content: FileContent?

    private let identity: Identity
    private let place: GuardedPlace
    private let source: OpenFile?
    private let limit: Int

    /// The file's real path, which need not exist: links are followed.
    package var path: String { place.path }

    /// Walks to `path` under the rules for publishing. An existing file must be regular, have at most `limit`
    /// bytes, and belong to the acting user.
    ///
    /// - Parameter limit: in bytes; it applies to the old and the new content.
    package init(
        _ path: String, as identity: Identity, limit: Int
    ) throws(FileError) {
        self = try GuardedWalk.untilSettled { () throws(FileError) in
            try AtomicFile(once: path, as: identity, limit)
        }
    }

    private init(
        once path: String, as identity: Identity, _ limit: Int
    ) throws(FileError) {
        let place = try GuardedWalk.place(path, .publishing, as: identity)
        // Nothing behind it could be written: it would have to belong to the link's owner and to the acting user.
        if let link = place.strangersLink { throw link.error(for: identity) }
        if place.found != nil {
            let source = try Self.open(place, limit, as: identity)
            content = try Self.content(of: source, at: place, as: identity)
            self.source = consume source
        } else {
            content = nil
            source = nil
        }
        self.place = place
        self.limit = limit
        self.identity = identity
    }

    private static func open(
        _ place: GuardedPlace, _ limit: Int, as identity: Identity
    ) throws(FileError) -> OpenFile {
        do throws(FileError) {
            if let found = place.found { try check(found, place, as: identity) }
            return try OpenFile(place, limit: limit)
        } catch {
            throw place.blamed(error, for: identity)
        }
    }

    private static func content(
        of source: borrowing OpenFile, at place: GuardedPlace, as identity: Identity
    ) throws(FileError) -> FileContent {
        do throws(FileError) {
            try check(source.status, place, as: identity)
            let content = try source.content()
            try place.confirm(content.status)
            return content
        } catch {
            throw place.blamed(error, for: identity)
        }
    }

    /// The parts of the replaced file that a new file keeps.
    package enum Kept: Sendable {
        /// As if there had been none.
        case nothing
        /// Mode and group, as far as none is given, and access list, user attributes and label.
        case attributes
        /// The same and content. Then no user can read it that could not before, even if mode and group allow it.
        case content
    }

    /// Gives the name to a new file with this content, once all its attributes are set.
    ///
    /// Throws ``FileError/Kind/changedMeanwhile`` when the name no longer refers to the file that was read. The other file is not
    /// changed, and the caller creates a new value. After any error no temporary file is left.
    ///
    /// Throws ``FileError/Kind/openForWriting`` while another program has the file open for writing: the rest of its content
    /// would go into a file without a name. Unknown on NFS and SMB, where no program counts as a writer.
    ///
    /// - Parameters:
    ///   - mode: permission bits; nil: those of the file that is replaced, else 0600.
    ///   - group: nil: that of the file that is replaced, else the directory's default.
    ///   - kept: the parts that the new file has of the one that it replaces.
    ///   - overWriters: whether to replace it even so.
    package func replace(
        with bytes: [UInt8], mode: UInt16? = nil, group: UInt32? = nil, keeping kept: Kept = .attributes,
        overWriters: Bool = true, naming: TemporaryNames
    ) throws(FileError) {
        do throws(FileError) {
            // The first time, before a temporary file is created.
            if !overWriters, !waitForWriters() { throw FileError(.openForWriting, at: path) }
            let metadata = NewFileMetadata(mode: mode, group: group, keepsContent: kept == .content)
            try put(bytes, metadata, kept, overWriters, naming)
        } catch {
            throw place.blamed(error, for: identity)
        }
    }

    /// The same for a file with exactly these readers. User attributes and label are those of the replaced file.
    package func replace(
        with bytes: [UInt8], for readers: FileReaders, naming: TemporaryNames
    ) throws(FileError) {
        do throws(FileError) {
            let metadata = NewFileMetadata(mode: readers.mode, group: readers.group, readers: readers)
            try put(bytes, metadata, .attributes, true, naming)
        } catch {
            throw place.blamed(error, for: identity)
        }
    }

    /// Whether the file that was read has exactly these readers.
    package func isReadable(by readers: FileReaders) -> Bool {
        guard let replaced, replaced.status.mode & 0o7777 == readers.mode,
            readers.group == nil || replaced.status.group == readers.group
        else { return false }
        do throws(FileError) {
            let list = try ExtendedAttributes(of: replaced.descriptor, path: path).value(AccessList.attribute)
            return list == readers.list
        } catch {
            return false
        }
    }

    private func put(
        _ bytes: [UInt8], _ metadata: NewFileMetadata, _ kept: Kept, _ overWriters: Bool, _ naming: TemporaryNames
    ) throws(FileError) {
        let directory = place.directory
        var temporary = try Self.temporary(
            with: bytes, limit: limit, metadata, for: place, from: kept == .nothing ? nil : replaced, as: identity,
            naming: naming)
        if let content {
            waitForTurn()
            // Metadata too: renaming changes ctime, so afterwards only the content can be compared.
            guard try directory.status(of: place.name, asServerKnows: true)?.identity == content.status.identity else {
                throw FileError(.changedMeanwhile, at: path)
            }
            try temporary.replace(place.name) { name throws(FileError) in
                guard let taken = try read(name), taken.bytes == content.bytes,
                    taken.status.isSameFile(as: content.status)
                else { return nil }
                // No program can find it by its name now: a program that has it open opened it before.
                if !overWriters, hasWriter { throw FileError(.openForWriting, at: path) }
                return taken.status
            }
        } else {
            try temporary.appear(as: place.name)
        }
    }

    /// Gives the path to a new file with this content, even if the acting user has another file there. Use it in a directory in
    /// which no other process writes, such as the state directory. An existing file is not read or compared.
    ///
    /// - Parameters:
    ///   - mode: permission bits.
    ///   - limit: in bytes; it applies to the new content.
    package static func overwrite(
        _ path: String, with bytes: [UInt8], mode: UInt16, limit: Int, as identity: Identity,
        naming: TemporaryNames
    ) throws(FileError) {
        let place = try GuardedWalk.place(path, .publishing, as: identity)
        if let link = place.strangersLink { throw link.error(for: identity) }
        if let found = place.found { try check(found, place, as: identity) }
        var temporary = try temporary(
            with: bytes, limit: limit, NewFileMetadata(mode: mode, group: nil), for: place, from: nil,
            as: identity, naming: naming)
        try temporary.overwrite(place.name)
    }

    /// A file next to the one at `place`, with all its attributes, on the disk.
    private static func temporary(
        with bytes: [UInt8], limit: Int, _ attributes: NewFileMetadata, for place: GuardedPlace,
        from replaced: (descriptor: Int32, status: FileStatus)?, as identity: Identity, naming: TemporaryNames
    ) throws(FileError) -> TemporaryFile {
        guard bytes.count <= limit else {
            throw FileError(
                .fileTooLarge, at: place.path, detail: "\(bytes.count) bytes are more than the \(limit) allowed")
        }
        // In an append-only directory the temporary file could be created, but then not renamed or removed.
        try place.directory.status.requireChangeable(place.directory.path, for: identity)
        let temporary = try GuardedWalk.untilSettled { () throws(FileError) in
            try TemporaryFile(for: place.name, in: place.directory, naming: naming)
        }
        try attributes.give(
            to: temporary.descriptor.raw, made: temporary.made, from: replaced, path: place.path)
        if let error = Descriptor.write(bytes, to: temporary.descriptor.raw) {
            throw FileError(of: error, at: place.path)
        }
        _ = try checked(clinux_file_sync(temporary.descriptor.raw), place.path)
        return temporary
    }

    /// Removes the file, unless the name refers to another one by now.
    package func remove() throws(FileError) {
        guard let content, try place.directory.status(of: place.name)?.identity == content.status.identity else {
            return
        }
        guard place.directory.remove(place.name) else { throw FileError(of: Errno(rawValue: errno), at: path) }
    }

    /// Lets only one caller replace the file at a time. Otherwise a third one could treat a file as its own that another has put
    /// there by mistake and is about to remove.
    ///
    /// The lock is released with the descriptor. It is advisory, and every user that may read the file could hold it for ever. So
    /// no wait for it is longer than ``turnTimeout``.
    private func waitForTurn() {
        guard let replaced else { return }
        _ = Self.waits { flock(replaced.descriptor, LOCK_EX | LOCK_NB) == 0 }
    }

    /// Milliseconds: far longer than comparing and renaming take.
    private static let turnTimeout = 100

    /// Waits until the condition holds, for ``turnTimeout`` at most. Returns whether it does.
    private static func waits(until condition: () -> Bool) -> Bool {
        for _ in 0..<turnTimeout {
            if condition() { return true }
            usleep(1_000)
        }
        return condition()
    }

    /// Waits briefly until no program has the file open for writing. The last one may just be closing it: another daemon that
    /// put it here, or a process of ours that is about to run a hook's program. Returns false if one still has it open.
    private func waitForWriters() -> Bool { Self.waits { !hasWriter } }

    private var hasWriter: Bool {
        replaced.map { clinux_file_has_writer($0.descriptor) == 1 } ?? false
    }

    private var replaced: (descriptor: Int32, status: FileStatus)? {
        switch source {
        case .some(let file): (file.descriptor.raw, file.status)
        case .none: nil
        }
    }

    /// The content of this name now; nil when it is no file like the one that was read.
    private func read(_ name: FilePath.Component) throws(FileError) -> FileContent? {
        guard let status = try place.directory.status(of: name) else { return nil }
        let now = GuardedPlace(directory: place.directory, name: name, found: status)
        do throws(FileError) {
            return try OpenFile(now, limit: limit).content()
        } catch {
            switch error.code {
            case .missing, .changedMeanwhile, .notARegularFile, .isDirectory, .isMountPoint, .fileTooLarge: return nil
            default: throw error
            }
        }
    }

    private static func check(
        _ status: FileStatus, _ place: borrowing GuardedPlace, as identity: Identity
    ) throws(FileError) {
        let path = place.path
        try status.requireRegular(path)
        if status.isMountPoint { throw FileError(.isMountPoint, at: path) }
        if status.owner != identity.user {
            // If others may write to the directory, any user may have put it there.
            throw FileError.foreign(status, at: path, in: place.directory.status)
        }
        try status.requireName(path)
        try status.requireChangeable(FilePath(path), for: identity)
    }
}

extension FileError {
    /// Another user's file. If others may write to the directory, any user may have put it there.
    static func foreign(_ status: FileStatus, at path: String, in directory: FileStatus) -> FileError {
        FileError(
            .foreignOwner, at: path, detail: "the file belongs to \(Owner.describe(user: status.owner))",
            remedy: directory.isWritableByOthers ? .strangers(path) : nil, owner: Owner.argument(user: status.owner))
    }
}
