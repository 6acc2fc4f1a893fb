internal import AppleClientSecret
import Config
internal import Failures
package import Linux
package import Model
package import Outputs
internal import SystemPackage

/// The daemon's client of the user writers: one connection for each request. Answers come from another user's process
/// and are trusted only with what that user could do anyway.
package struct UserWriterClient: Sendable {
    private let sockets: String
    private let configuration: String
    private let identity: Identity
    private let cancel: EventCounter?
    private let sha256: @Sendable ([UInt8]) -> [UInt8]

    /// For systemd to start the writer, and for its disk: longer than the 30 s after which a file is reported as not
    /// responding, and not longer than a local failure waits for its next attempt. In milliseconds.
    static let patience: Int64 = 60_000
    /// A local connection waits only when a hundred others do. In seconds.
    private static let connecting: Int64 = 10

    /// - Parameters:
    ///   - socket: the daemon's status socket; those of the writers are in `writer/` next to it.
    ///   - configuration: the configuration's absolute path.
    ///   - identity: the daemon's user; root starts writers itself when nothing listens.
    ///   - cancel: ends every request when raised.
    ///   - sha256: the digest function, 32 bytes.
    package init(
        besideSocket socket: String, configuration: String, identity: Identity, cancel: EventCounter?,
        sha256: @escaping @Sendable ([UInt8]) -> [UInt8]
    ) {
        sockets = (socket.lastIndex(of: "/").map { String(socket[..<$0]) } ?? ".") + "/writer"
        self.configuration = configuration
        self.identity = identity
        self.cancel = cancel
        self.sha256 = sha256
    }

    /// Has `file` read back by `user`.
    ///
    /// - Parameter naming: of this daemon's temporaries, so that those of a killed writer are removed; nil: nothing may
    ///   be changed.
    package func observe(_ file: FileSpec, as user: String, naming: TemporaryNames?) throws(Failure)
        -> OutputContents
    {
        var request = WriterRequest(.observe, file)
        request.tag = naming?.tag
        return try contents(of: file, ask(request, of: user, about: file.path), user)
    }

    /// Has these secrets written into `file` by `user`.
    package func publish(
        _ secrets: [Slot: Secret], in file: FileSpec, as user: String, mayCreate: Bool, naming: TemporaryNames
    ) throws(Failure) -> OutputContents {
        var request = WriterRequest(.publish, file, secrets: secrets.mapValues(\.token))
        request.mayCreate = mayCreate
        request.tag = naming.tag
        return try contents(of: file, ask(request, of: user, about: file.path), user)
    }

    /// Why `file` could not be written; nil when no reason is known.
    package func obstacle(to file: FileSpec, as user: String, mayCreate: Bool) -> Failure? {
        var request = WriterRequest(.examine, file)
        request.mayCreate = mayCreate
        do throws(Failure) {
            _ = try ask(request, of: user, about: file.path)
            return nil
        } catch {
            return error
        }
    }

    // MARK: Requests

    private func socket(of user: String) -> String { "\(sockets)/\(user).sock" }

    private func ask(_ request: WriterRequest, of user: String, about path: AbsolutePath) throws(Failure)
        -> WriterAnswer
    {
        let stream: UnixStream
        do {
            stream = try UnixStream.connect(to: socket(of: user), timeoutSeconds: Self.connecting)
        } catch {
            switch error.errno {
            case .noSuchFileOrDirectory, .connectionRefused, .notDirectory:
                if identity.user == 0 { return try askLaunchedWriter(request, user, path) }
                throw failure(.writerMissing, user, path, cause: error.errno.rawValue, detail: socket(of: user))
            case .permissionDenied:
                throw failure(.writerNotPermitted, user, path, cause: error.errno.rawValue, detail: socket(of: user))
            case .wouldBlock:
                throw failure(.writerSilent, user, path, cause: Errno.timedOut.rawValue, detail: user)
            default:
                throw failure(.writerMissing, user, path, cause: error.errno.rawValue, detail: socket(of: user))
            }
        }
        let timed = TimedStream(stream, milliseconds: Self.patience, cancel: cancel)
        // The listener is given secrets: the kernel says which user began to listen, as a rule systemd's.
        guard let peer = try? timed.peer(), identity.trusts(peer.user) else {
            throw failure(
                .writerNotPermitted, user, path,
                detail: "\(socket(of: user)) does not belong to root", remedy: .strangers(socket(of: user)))
        }
        return try exchange(request, timed, user, path).get()
    }

    /// Without systemd: a writer for this one request, which has dropped root's rights before it begins.
    private func askLaunchedWriter(
        _ request: WriterRequest, _ user: String, _ path: AbsolutePath
    ) throws(Failure) -> WriterAnswer {
        let result: (value: Result<WriterAnswer, Failure>, report: ExitReport)
        do {
            result = try ChildProcess.exchange(
                with: try UserWriterLauncher(user: user, configuration: configuration).arguments,
                environment: UserWriterLauncher.environment, milliseconds: Self.patience, cancel: cancel
            ) { exchange(request, $0, user, path) }
        } catch {
            throw failure(
                .writerMissing, user, path, cause: error.errno.rawValue, detail: "cannot \(error.operation)")
        }
        if case .failure(let failed) = result.value, failed.code == .writerSilent, let said = result.report.lines.last {
            throw failure(.writerSilent, user, path, cause: failed.cause, detail: Redaction.foreign(said))
        }
        return try result.value.get()
    }

    private func exchange(
        _ request: WriterRequest, _ stream: borrowing TimedStream, _ user: String, _ path: AbsolutePath
    ) -> Result<WriterAnswer, Failure> {
        do throws(Frame.Flaw) {
            let bytes = try Frame.encode(request)
            // A writer that takes no requests answers before reading one: its answer is read even if writing fails.
            try? stream.write(bytes)
            let answer = try Frame.read(WriterAnswer.self, from: stream)
            guard answer.version == WriterRequest.currentVersion else {
                return .failure(
                    failure(.writerGarbled, user, path, detail: "it has another version (\(answer.version))"))
            }
            return answer.fault.map { .failure(fault($0, user, path)) } ?? .success(answer)
        } catch {
            switch error {
            case .oversized(let count) where count > 0:
                return .failure(failure(.writerGarbled, user, path, detail: "\(count) bytes are too many"))
            case .nothing:
                return .failure(
                    failure(.writerSilent, user, path, cause: Errno.connectionReset.rawValue, detail: user))
            case .broken(let errno):
                return .failure(failure(.writerSilent, user, path, cause: errno.rawValue, detail: user))
            case .oversized, .truncated, .malformed:
                return .failure(failure(.writerGarbled, user, path, detail: "it cannot be read"))
            }
        }
    }

    // MARK: Answers

    private func contents(of file: FileSpec, _ answer: WriterAnswer, _ user: String) throws(Failure) -> OutputContents {
        guard let contents = answer.contents else {
            throw failure(.writerGarbled, user, file.path, detail: "it does not show the content of the file")
        }
        var slots: [Slot: SlotContents] = [:]
        for place in contents.places where file.slots[Slot(variable: place.variable)] != nil {
            slots[Slot(variable: place.variable)] = place.token?.token(sha256: sha256).map { .token($0) } ?? .foreign
        }
        let own = DirectoryMark(of: file.path.directory)
        return OutputContents(
            exists: contents.exists, otherLines: contents.otherLines, isAsConfigured: contents.isAsConfigured,
            identity: nil, realPath: file.path.description, isWatchable: own != nil && own == contents.directory,
            slots: slots)
    }

    private func fault(_ fault: WriterAnswer.Fault, _ user: String, _ path: AbsolutePath) -> Failure {
        guard let code = Failure.Code(rawValue: fault.code), WriterFaults.codes.contains(code) else {
            return failure(.writerGarbled, user, path, detail: "it failed without a reason")
        }
        return failure(code, user, path, cause: fault.cause, detail: fault.detail.map(Redaction.foreign))
    }

    /// The failure, with the remedy for this user's writer.
    private func failure(
        _ code: Failure.Code, _ user: String, _ path: AbsolutePath, cause: Int32? = nil, detail: String? = nil,
        remedy: Remedy? = nil
    ) -> Failure {
        Failure(
            code, at: .path(path), cause: cause, detail: detail,
            remedy: remedy ?? WriterFaults.remedy(code, user, path, configuration))
    }
}

/// Failures that a user writer may report, and remedies.
enum WriterFaults {
    /// What a writer may report: failures of a file, and of the writer itself.
    static let codes: Set<Failure.Code> = [
        .directoryMissing, .notADirectory, .permissionDenied, .readOnlyFileSystem, .diskFull, .quotaExceeded, .ioError,
        .isDirectory, .isMountPoint, .isImmutable, .notARegularFile, .outputForeign, .outputIsInput, .sameFile,
        .fileTooLarge, .foreignOwner, .untrustedLink, .unguardedDirectory, .tooManyLinks, .unknownGroup,
        .groupNotPermitted, .attributesNotKept, .changedMeanwhile, .outputMalformed, .nameTooLong,
        .outOfDescriptors, .outOfMemory, .systemError, .outputDeleted, .selfCheckFailed,
        .writerNotPermitted, .writerRefused, .writerUnconfigured,
    ]

    /// The remedy when the writer for `user` met `code`; nil: the general remedy for that code applies.
    ///
    /// The code is another user's claim. So a command is built only from what this process finds itself.
    static func remedy(
        _ code: Failure.Code, _ user: String, _ path: AbsolutePath, _ configuration: String
    ) -> Remedy? {
        switch code {
        case .writerMissing:
            .run(
                .listen("clientsecretd-writer@\(user).socket"),
                otherwise: "start the writer of \(user), with its socket next to the daemon's")
        case .writerSilent, .writerGarbled:
            .say("read its log", see: .journal(of: "clientsecretd-writer@\(user).service"))
        case .writerUnconfigured: readable(configuration, user)
        default: link(on: path, user) ?? remedy(onWay: code, user, path)
        }
    }

    /// The remedy where no link has led away.
    private static func remedy(onWay code: Failure.Code, _ user: String, _ path: AbsolutePath) -> Remedy? {
        let directory = Printable.name(path.directory.description)
        return switch code {
        case .permissionDenied: denied(path, user)
        case .directoryMissing: making(path.directory, for: user)
        case .readOnlyFileSystem:
            .say(
                "mount it writable, or let clientsecretd-writer@\(user).service write to \(directory), with the lines "
                    + "that are printed", see: .check)
        case .quotaExceeded: .say("make room, or raise the quota of \(user)")
        case .foreignOwner: foreign(path, user)
        case .untrustedLink: rootsOwn(path, user)
        case .groupNotPermitted where FileStatus.following(path.description)?.group == 0: Owner.leavingRoots(user)
        case .groupNotPermitted:
            .say(
                "add \(user) to the file's group and restart its writer, or write a \"group\" that \(user) is in; a "
                    + "directory with that group and mode 2750 gives it to new files by itself")
        default: nil
        }
    }

    private static func id(of user: String) -> UInt32? { (try? Accounts.userID(user)).flatMap { $0 } }

    /// What removes a link on the way: whatever fails behind it, its owner chose.
    private static func link(on path: AbsolutePath, _ user: String) -> Remedy? {
        id(of: user).flatMap { GuardedPath.untrustedLink(on: path.description, for: $0) }
    }

    private static func making(_ directory: AbsolutePath, for user: String) -> Remedy {
        guard let id = id(of: user) else {
            return .say("create \(Printable.name(directory.description)) for \(user)")
        }
        return OutputRemedy.making(directory, for: id)
    }

    /// Names the directory that is closed to `user`, as far as this process finds it by owners and modes.
    private static func denied(_ path: AbsolutePath, _ user: String) -> Remedy {
        let directory = path.directory
        var ways = [directory]
        while let last = ways.last, last.description != "/" { ways.append(last.directory) }
        let look = ShellCommand.listWay(to: path.description)
        let id = id(of: user)
        for way in ways.reversed() {
            guard let status = FileStatus.following(way.description) else { break }
            if status.mode & (status.owner == id ? 0o100 : 0o011) == 0 {
                return .say(
                    "let \(user) enter \(Printable.name(way.description)), or write another path", see: look)
            }
        }
        let name = Printable.name(directory.description)
        guard FileStatus.following(directory.description)?.owner == 0 else {
            return .say("let \(user) enter \(name) and write there, or write another path", see: look)
        }
        return .say("\(name) belongs to root: write a path in a directory that \(user) owns", see: look)
    }

    /// A file that another user has written over the one of `user`, as root does with `sudo` and an editor.
    private static func foreign(_ path: AbsolutePath, _ user: String) -> Remedy {
        rootsOwn(path, user)
            ?? .say("check its owner, and write another path or remove it", see: .list(path.description))
    }

    /// Nil where it is not only root's own file that is in the way. A hard link to another one would be given away with it.
    private static func rootsOwn(_ path: AbsolutePath, _ user: String) -> Remedy? {
        id(of: user).flatMap { GuardedPath.rootsOwn(path.description, for: $0) }.map { file in
            .say(
                "root owns \(Printable.name(file)) now: if its content is meant for \(user), give it back to \(user)",
                see: .list(file))
        }
    }

    private static func readable(_ configuration: String, _ user: String) -> Remedy {
        // Its text may hold a password, in a template or a comment: no command opens it to more users.
        let words =
            ": give it a group that \(user) and the daemon's user are in, and mode 0640"
        guard let path = AbsolutePath(configuration) else { return .say("let \(user) read the configuration" + words) }
        var files = [configuration]
        let additions = ConfigurationParser.directory(of: path).description
        if let names = try? TrustedFile.names(in: additions, ending: ".yaml", as: .current()) {
            files += names.map { additions + "/" + $0 }
        }
        let closed = files.first { FileStatus.following($0).map { $0.mode & 0o004 == 0 } ?? false } ?? configuration
        return .say("let \(user) read \(Printable.name(closed))" + words, see: .listWay(to: closed))
    }
}
