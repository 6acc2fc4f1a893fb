internal import Failures
internal import Formats
package import Linux
package import Model
internal import SystemPackage

/// Reads files back and publishes secrets into them as one user. The daemon does so for its own files, and a process of another
/// user for that user's files.
package struct Publisher: Sendable {
    private let user: Identity
    private let naming: TemporaryNames
    private let reservedPaths: ReservedPaths

    /// - Parameters:
    ///   - identity: the user that reads and writes, and must own the files.
    ///   - naming: names of temporaries that are recognised as ours after a kill.
    ///   - reservedPaths: paths that no output may have.
    package init(as identity: Identity, naming: TemporaryNames, reservedPaths: ReservedPaths) {
        self.reservedPaths = reservedPaths
        user = identity
        self.naming = naming
    }

    private var identity: Identity { reservedPaths.trusting(user) }

    /// Reads `file` back. A missing file is no failure; one that cannot be read or parsed, or that is another output's,
    /// is.
    package func observe(_ file: FileSpec) throws(Failure) -> OutputContents {
        let content: FileContent?
        do throws(FileError) {
            content = try GuardedPath.read(file.path.description, as: identity, limit: OutputLimits.fileSize)
        } catch {
            // Without its directory a file is absent; publishing reports that it cannot be created. A file is also
            // absent if its path is refused and leads to nothing.
            guard error.code == .directoryMissing || isAbsent(file, refusedAs: error.code) else {
                throw Failure(error, at: file.path, of: identity)
            }
            content = nil
        }
        // The content may belong to the other output's client, so it cannot show that this client's secret is published.
        guard let content, try !reservedPaths.claim(content.path, content.status, for: file.path) else {
            return OutputContents(
                exists: false, otherLines: false, isAsConfigured: true,
                realPath: content?.path ?? file.path.description, slots: [:])
        }
        let merge = OutputMerge(file: file)
        let contents = try merge.read(content.bytes)
        reservedPaths.noteHome(of: content.status, at: content.path, otherLines: contents.otherLines)
        return OutputContents(
            exists: true, otherLines: contents.otherLines,
            isAsConfigured: contents.isExact
                && isAsConfigured(content.status, file, contents.otherLines || file.slots.count > 1),
            isExact: contents.isExact, realPath: content.path, slots: contents.slots,
            editFailures: try merge.editFailures(in: content.bytes))
    }

    /// The secrets in `file` found by programs that follow every link and trust every directory. There is none if they can open
    /// no file, or the file is too long for any output, not of the output's format, or an input of the daemon.
    ///
    /// Throws if others may find more than this process.
    package func look(at file: FileSpec) throws(Failure) -> [FileSlot: SlotContents] {
        let path = file.path.description
        do throws(FileError) {
            let status = try DiskTimeout.require(at: path) { () throws(FileError) in FileStatus.following(path) }
            // A key is not read into memory that is not guarded.
            if let status, reservedPaths.isInput(status) { return [:] }
            return Self.slots(in: try ForeignFile.contents(of: path, limit: OutputLimits.fileSize), of: file)
        } catch {
            guard error.code == .missing || error.code.traits.contains(.holdsNoSecret) else {
                throw Failure(error, at: file.path, of: identity)
            }
            return [:]
        }
    }

    /// Whether a refused path leads to nothing, even when every link is followed.
    private func isAbsent(_ file: FileSpec, refusedAs code: FailureCode) -> Bool {
        switch code {
        // The target of an untrusted link is not read.
        case .unguardedDirectory, .tooManyLinks: FileStatus.isAbsent(file.path.description)
        default: false
        }
    }

    /// Sets these slots in one write; other variables and lines stay. Writes nothing when the file would not change.
    /// When another program changes the file meanwhile, the secrets are merged into that version.
    ///
    /// - Parameters: see ``Destination/publish(_:mayCreate:overWriters:)``.
    package func publish(
        _ secrets: [FileSlot: Secret], in file: FileSpec, mayCreate: Bool = true, overWriters: Bool = false
    ) throws(Failure) -> OutputContents {
        let merge = OutputMerge(file: file)
        for (slot, secret) in secrets where !merge.isWritable(secret, in: slot) {
            throw Failure(.selfCheckFailed, at: .path(file.path))
        }
        guard !secrets.isEmpty else { return try observe(file) }
        let group = try group(of: file)
        for _ in 0..<OutputLimits.merges {
            if try write(secrets, file, merge, group: group, mayCreate: mayCreate, overWriters: overWriters) {
                return try observe(file)
            }
        }
        throw Failure(.changedMeanwhile, at: .path(file.path))
    }

    /// Why `file` could not be written; nil when no reason is known. Changes nothing. Which edits of its content are safe is
    /// observed (``OutputContents/editFailures``).
    package func problem(with file: FileSpec, mayCreate: Bool) -> Failure? {
        do throws(FileError) {
            let target = try AtomicFile(file.path.description, as: identity, limit: OutputLimits.fileSize)
            do throws(Failure) { _ = try check(target, file, mayCreate: mayCreate) } catch { return error }
        } catch {
            let isMade = makesDirectory(of: file, after: error, mayCreate: mayCreate)
            guard isMade, FileStatus.following(OutputRemedy.ownDirectory) != nil else {
                return failure(error, of: file, mayCreate: mayCreate)
            }
        }
        return WriteProbe.failure(of: file, as: identity)
    }

    /// One attempt: false when another program changed the file meanwhile.
    private func write(
        _ secrets: [FileSlot: Secret], _ file: FileSpec, _ merge: OutputMerge, group: UInt32?, mayCreate: Bool,
        overWriters: Bool
    ) throws(Failure) -> Bool {
        let target: AtomicFile
        do throws(FileError) {
            target = try open(file, mayCreate: mayCreate)
        } catch {
            if error.code == .changedMeanwhile { return false }
            throw failure(error, of: file, mayCreate: mayCreate)
        }
        let hasContent = try check(target, file, mayCreate: mayCreate)
        var mode = file.mode
        // The readers of a file that was moved here may not read this output.
        var kept = hasContent ? AtomicFile.Kept.attributes : .nothing
        var bytes: [UInt8] = []
        if hasContent, let content = target.content {
            let found = try merge.read(content.bytes)
            bytes = try merge.merged(secrets, into: content.bytes, found)
            // The value of a variable whose client has no secret yet may be any user's.
            let keepsContent = found.otherLines || found.slots.keys.contains { secrets[$0] == nil }
            if content.bytes == bytes, isAsConfigured(content.status, file, keepsContent) { return true }
            if keepsContent { kept = .content }
            // In trusted directories users may have renamed another output. Its readers need not be the readers of this one.
            // `ReservedPaths` knows moved files by their identity, even if their content does not show which file it was.
            // Examples are other programs' lines, or another output of the same client. It does not know files that were moved
            // before this process first saw them.
            if identity.trusts(place: FilePath(target.path)), merge.isOthers(found, in: content.bytes, than: secrets) {
                // Both contents may have readers that the other must not have.
                if keepsContent { mode = 0o600 } else { kept = .nothing }
            }
        } else {
            bytes = try merge.merged(secrets, into: [], nil)
        }
        do throws(FileError) {
            try target.replace(
                with: bytes, mode: mode, group: group, keeping: kept, overWriters: overWriters, naming: naming)
            return true
        } catch {
            if error.code == .changedMeanwhile { return false }
            throw Failure(error, at: file.path, of: identity)
        }
    }

    /// Throws unless the daemon's file may replace this file. Returns whether it has content of its own.
    private func check(_ target: borrowing AtomicFile, _ file: FileSpec, mayCreate: Bool) throws(Failure) -> Bool {
        let wasMoved = try reservedPaths.check(target, for: file)
        // Also a new one would not be approved. A link may have any name.
        for name in Set([file.path.name, RealPath.name(of: target.path)]) {
            if let approved = ApprovedFile(name, target.content?.bytes ?? []) {
                throw Failure(
                    .outputForeign, at: .path(file.path), detail: approved.reason, remedy: .say(approved.advice))
            }
        }
        guard !wasMoved, let content = target.content else {
            if file.format.isShared, !mayCreate { throw Failure(.outputDeleted, at: .path(file.path)) }
            return false
        }
        let variables = Set(file.slots.keys.compactMap(\.variable))
        if file.format.isShared,
            let reason = NonEnvironmentFile.reason(file.path.name, content.bytes, setting: variables)
        {
            throw Failure(
                .outputForeign, at: .path(file.path), detail: reason,
                remedy: .say(
                    "write another path, such as a file of its own that a unit reads with EnvironmentFile=, or write the whole file "
                        + "with \"format: template\" and move this one away"))
        }
        let merge = OutputMerge(file: file)
        if file.format.isShared, !mayCreate, let found = try? merge.read(content.bytes), found.holdsNothing {
            throw Failure(.outputEmptied, at: .path(file.path))
        }
        guard !mayCreate, try !merge.format().mayReplace(content.bytes) else { return true }
        // If no slot can be edited, that is reported, and keeps the file from being written: that it has no known format says
        // nothing more.
        if FormatRegistry.guess(content.bytes) == nil, let failures = try? merge.editFailures(in: content.bytes),
            failures.count == file.slots.count
        {
            return true
        }
        throw Self.foreign(content.bytes, in: file)
    }

    /// The secrets in the slots of a file with this content; nothing if it cannot be parsed.
    package static func slots(in bytes: [UInt8], of file: FileSpec) -> [FileSlot: SlotContents] {
        (try? OutputMerge(file: file).read(bytes))?.slots ?? [:]
    }

    private static func foreign(_ bytes: [UInt8], in file: FileSpec) -> Failure {
        let format = FormatRegistry.guess(bytes)
        let isOfFormat = format?.name == file.format.name
        var remedy: Remedy?
        if FormatRegistry.holdsSecretOnly(bytes) {
            remedy = .say("remove the file if nothing reads that format now, or write another path")
        } else if let format, format.isShared, !isOfFormat {
            remedy = .say("write \"format: \(format.name)\" and its \"variable\" under the output, or another path")
        }
        return Failure(
            .outputForeign, at: .path(file.path),
            detail: isOfFormat ? "it has this format, but another program wrote it" : words(for: bytes), remedy: remedy)
    }

    /// A description of another program's file.
    static func words(for bytes: [UInt8]) -> String {
        guard let format = FormatRegistry.guess(bytes) else { return "it has none of the formats of an output" }
        return "it seems to have \"format: \(format.name)\" (\(format.words))"
    }

    /// Why a file cannot be opened for writing. A shared file that is missing with its directory has lost its lines. A new
    /// directory would only be in the way when both come back.
    private func failure(_ error: FileError, of file: FileSpec, mayCreate: Bool) -> Failure {
        error.code == .directoryMissing && file.format.isShared && !mayCreate
            ? Failure(.outputDeleted, at: .path(file.path)) : Failure(error, at: file.path, of: identity)
    }

    private func open(_ file: FileSpec, mayCreate: Bool) throws(FileError) -> AtomicFile {
        do throws(FileError) {
            return try AtomicFile(file.path.description, as: identity, limit: OutputLimits.fileSize)
        } catch {
            guard makesDirectory(of: file, after: error, mayCreate: mayCreate) else { throw error }
            try makeDirectories(to: file.path.directory)
            return try AtomicFile(file.path.description, as: identity, limit: OutputLimits.fileSize)
        }
    }

    /// Whether the directory of a file is missing, and the daemon creates it.
    private func makesDirectory(of file: FileSpec, after error: FileError, mayCreate: Bool) -> Bool {
        error.code == .directoryMissing && isBelowOwn(file.path) && (mayCreate || !file.format.isShared)
    }

    private func isBelowOwn(_ path: AbsolutePath) -> Bool {
        path.description.hasPrefix(OutputRemedy.ownDirectory + "/")
    }

    /// Creates missing directories below the daemon's own directory, which must exist.
    private func makeDirectories(to directory: AbsolutePath) throws(FileError) {
        guard directory.description != OutputRemedy.ownDirectory else { return }
        if isBelowOwn(directory.directory) { try makeDirectories(to: directory.directory) }
        try GuardedPath.makeDirectory(directory.description, mode: 0o755, as: identity)
    }

    /// False for an unknown group or another owner: the content is still reported, and the next write reports
    /// the failure.
    ///
    /// - Parameter keepsContent: whether content may have stayed, for which the mode may be narrower than configured.
    private func isAsConfigured(_ status: FileStatus, _ file: FileSpec, _ keepsContent: Bool) -> Bool {
        let hasMode = file.mode.map { $0 == status.mode || keepsContent && $0 & status.mode == status.mode } ?? true
        guard status.owner == identity.user, hasMode else { return false }
        guard let wanted = try? group(of: file) else { return file.group == nil }
        return wanted == status.group
    }

    private func group(of file: FileSpec) throws(Failure) -> UInt32? {
        guard let name = file.group else { return nil }
        do throws(SystemError) {
            if let id = try Accounts.groupID(name) { return id }
        } catch {
            throw Failure.unknownGroup(name, at: .path(file.path), cause: error.number)
        }
        throw Failure.unknownGroup(name, at: .path(file.path))
    }
}
