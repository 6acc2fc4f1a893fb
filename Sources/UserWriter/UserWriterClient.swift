internal import AppleClientSecret
import Config
internal import Failures
package import Linux
import Model
import Outputs
internal import SystemPackage

/// The daemon's client of the user writers: one connection for each request. Answers come from another user's process. They are
/// trusted only if that user could do the same anyway.
package final class UserWriterClient: Sendable {
    private let sockets: String
    private let configuration: String
    private let identity: Identity
    private let cancel: EventCounter?
    /// The users whose writers gave no answer, why, and when they are asked again.
    private let resting = QuietMutex<[String: (errno: Errno, until: Deadline)]>([:])

    /// - Parameters:
    ///   - socket: the daemon's status socket; those of the writers are in `writer/` next to it.
    ///   - configuration: the configuration's absolute path.
    ///   - identity: the daemon's user; root starts writers itself when nothing listens.
    ///   - cancel: ends every request when raised.
    package init(
        besideSocket socket: String, configuration: String, identity: Identity, cancel: EventCounter?
    ) {
        sockets = LocalService.path("writer", nextTo: socket)
        self.configuration = configuration
        self.identity = identity
        self.cancel = cancel
    }

    /// The content of `file` once the writer of `user` has carried out a request about it.
    func contents(
        of file: FileSpec, after request: WriterRequest, as user: String
    ) throws(Failure) -> OutputContents {
        try contents(of: file, ask(request, of: user, about: file.path), user)
    }

    /// Why the writer of `user` cannot carry out a request about `file`; nil when it could.
    func problem(with file: FileSpec, after request: WriterRequest, as user: String) -> Failure? {
        do throws(Failure) {
            _ = try ask(request, of: user, about: file.path)
            return nil
        } catch {
            return error
        }
    }

    // MARK: Requests

    private var timeout: Int64 { DiskTimeout.milliseconds ?? UserWriterTimeouts.request }

    private func socket(of user: String) -> String { "\(sockets)/\(user).sock" }

    /// Asks again if the connection was closed without an answer. systemd closes waiting connections when a writer has ended
    /// (`FlushPending=`), for example because it was idle for too long. The second time it is one that cannot start. A file is
    /// not written again at once. The writer that was killed may have left a temporary file, which is removed first.
    private func ask(_ request: WriterRequest, of user: String, about path: AbsolutePath) throws(Failure)
        -> WriterAnswer
    {
        if let (errno, until) = resting.withLock({ $0[user] }), !until.hasPassed {
            throw failure(.writerSilent, user, path, cause: errno.rawValue, detail: user)
        }
        do throws(Failure) { return try askOnce(request, of: user, about: path) } catch {
            guard Self.isSilent(error, .connectionReset), request.task != .publish else {
                // A command waits once for each writer, as for each mount: its user may have stopped it.
                if DiskTimeout.milliseconds != nil, Self.isSilent(error, .timedOut) { rest(user, .timedOut, .max) }
                throw error
            }
        }
        do throws(Failure) { return try askOnce(request, of: user, about: path) } catch {
            if Self.isSilent(error, .connectionReset) { rest(user, .connectionReset, UserWriterTimeouts.rest) }
            throw error
        }
    }

    private func rest(_ user: String, _ errno: Errno, _ milliseconds: Int64) {
        resting.withLock { $0[user] = (errno, Deadline(in: milliseconds)) }
    }

    private static func isSilent(_ failure: Failure, _ errno: Errno) -> Bool {
        failure.code == .writerSilent && failure.cause == errno.rawValue
    }

    private func askOnce(_ request: WriterRequest, of user: String, about path: AbsolutePath) throws(Failure)
        -> WriterAnswer
    {
        var stream: UnixStream
        do {
            stream = try UnixStream(
                connectingTo: socket(of: user), timeoutSeconds: LocalService.connecting,
                milliseconds: timeout, cancel: cancel)
        } catch {
            switch error.errno {
            case .noSuchFileOrDirectory, .connectionRefused, .notDirectory:
                if identity.user == 0 { return try askLaunchedWriter(request, user, path) }
                throw failure(.writerMissing, user, path, cause: error.number, detail: socket(of: user))
            case .permissionDenied:
                throw failure(.writerNotPermitted, user, path, cause: error.number, detail: socket(of: user))
            case .wouldBlock:
                throw failure(.writerSilent, user, path, cause: Errno.timedOut.rawValue, detail: user)
            default:
                throw failure(.writerMissing, user, path, cause: error.number, detail: socket(of: user))
            }
        }
        do throws(FileError) {
            try LocalService.checkListener(try? stream.peer(), at: socket(of: user), as: identity)
        } catch {
            throw failure(.writerNotPermitted, user, path, detail: error.detail, remedy: error.remedy)
        }
        return try exchange(request, &stream, user, path).get()
    }

    /// Without systemd: a writer for this one request, which has dropped root's rights before it begins.
    private func askLaunchedWriter(
        _ request: WriterRequest, _ user: String, _ path: AbsolutePath
    ) throws(Failure) -> WriterAnswer {
        let result: (value: Result<WriterAnswer, Failure>, report: ExitReport)
        do {
            result = try ChildProcess.exchange(
                with: try UserWriterLauncher.arguments(user: user, configuration: configuration),
                environment: ChildProcess.environment, milliseconds: timeout, cancel: cancel
            ) { exchange(request, &$0, user, path) }
        } catch {
            let limit = ProcessLimit(reached: error.number, isStart: true)
            throw failure(
                .writerMissing, user, path, cause: error.number,
                detail: limit?.code.words ?? "cannot \(error.operation)", remedy: limit?.remedy(for: nil))
        }
        if case .failure(let failed) = result.value, failed.code == .writerSilent, let said = result.report.lines.last {
            throw failure(.writerSilent, user, path, cause: failed.cause, detail: Redaction.foreign(said))
        }
        return try result.value.get()
    }

    private func exchange(
        _ request: WriterRequest, _ stream: inout UnixStream, _ user: String, _ path: AbsolutePath
    ) -> Result<WriterAnswer, Failure> {
        do throws(SystemError) {
            // A writer that takes no requests answers before reading one: its answer is read even if writing fails.
            try? stream.write(WriterMessage.line(of: request))
            let answer = try WriterMessage.read(WriterAnswer.self, from: &stream)
            guard answer.version == WriterRequest.currentVersion else {
                return .failure(
                    failure(.writerGarbled, user, path, detail: "it has another version (\(answer.version))"))
            }
            return answer.fault.map { .failure(fault($0, user, path, group: request.group)) } ?? .success(answer)
        } catch {
            switch error.errno {
            case .badMessage, .messageTooLong:
                return .failure(failure(.writerGarbled, user, path, detail: "it cannot be read"))
            default: return .failure(failure(.writerSilent, user, path, cause: error.number, detail: user))
            }
        }
    }

    // MARK: Answers

    private func contents(of file: FileSpec, _ answer: WriterAnswer, _ user: String) throws(Failure) -> OutputContents {
        guard let contents = answer.contents else {
            throw failure(.writerGarbled, user, file.path, detail: "it does not show the content of the file")
        }
        var slots: [FileSlot: SlotContents] = [:]
        for place in contents.places where file.slots[FileSlot(variable: place.variable)] != nil {
            slots[FileSlot(variable: place.variable)] = place.token.map { .token($0) } ?? .foreign
        }
        var editFailures: [FileSlot: Failure] = [:]
        for (variable, detail) in contents.doubtful where file.slots[.variable(variable)] != nil {
            editFailures[.variable(variable)] = failure(
                .outputMalformed, user, file.path, detail: Redaction.foreign(detail))
        }
        let own = DirectoryMark(of: file.path.directory)
        return OutputContents(
            exists: contents.exists, otherLines: contents.otherLines, isAsConfigured: contents.isAsConfigured,
            isExact: contents.isExact, realPath: file.path.description,
            isWatchable: own != nil && own == contents.directory, slots: slots,
            editFailures: editFailures)
    }

    private func fault(
        _ fault: WriterAnswer.Fault, _ user: String, _ path: AbsolutePath, group: String?
    ) -> Failure {
        guard let code = Failure.Code(rawValue: fault.code), WriterAnswer.Fault.codes.contains(code) else {
            return failure(.writerGarbled, user, path, detail: "it failed without a reason")
        }
        return failure(
            code, user, path, cause: fault.cause, detail: fault.detail.map(Redaction.foreign),
            remedy: UserWriterRemedies.remedy(code, user, path, configuration, group: group, cause: fault.cause))
    }

    /// The failure, with the remedy for this user's writer.
    private func failure(
        _ code: Failure.Code, _ user: String, _ path: AbsolutePath, cause: Int32? = nil, detail: String? = nil,
        remedy: Remedy? = nil
    ) -> Failure {
        Failure(
            code, at: .path(path), cause: cause, detail: detail,
            remedy: remedy ?? UserWriterRemedies.remedy(code, user, path, configuration, cause: cause))
    }
}
