import AppleClientSecret
import Failures
import Glibc
import Linux
import Model
import SystemPackage
import Systemd

/// The daemon's client of a service that has a network: one connection for each request, which is a line, and its answer. The
/// service of systemd runs as another user. So it is checked which user listens before a secret is sent, and the texts in its answers
/// go through ``Redaction/foreign(_:)``.
final class NetworkServiceClient: Sendable {
    /// The failure when no process listens that a secret may be sent to.
    let missing: FailureCode
    /// The failure when no answer comes, or something that is no answer.
    let silent: FailureCode
    /// The daemon's user.
    let identity: Identity
    /// Ends every request when raised.
    let cancel: EventCounter?
    /// In milliseconds, from the connection to the end of the answer.
    let timeout: Int64
    /// A connection may start a process, and systemd takes no more of them, or none at all, when there are too many
    /// (systemd.socket(5), `TriggerLimitBurst=`). One in two seconds: a target is read once an hour, Apple is asked six times a
    /// minute, and failed requests are repeated after growing pauses.
    private static let connectionLimit = KeyedRateLimit<String>(30, in: 60)

    /// By socket.
    private let connections = QuietMutex(connectionLimit)

    init(missing: FailureCode, silent: FailureCode, identity: Identity, cancel: EventCounter?, timeout: Int64) {
        self.missing = missing
        self.silent = silent
        self.identity = identity
        self.cancel = cancel
        self.timeout = timeout
    }

    /// In bytes; an answer has a few hundred.
    private static let longestAnswer = 16_384

    /// The socket of a service.
    struct Socket: Hashable, Sendable {
        let path: String
        private let role: String
        /// The unit by which systemd listens there.
        private let unit: String

        /// - Parameters:
        ///   - role: of `clientsecretd-network`.
        ///   - target: the role's argument; nil if it has none.
        ///   - status: the daemon's status socket; the service's is next to it.
        init(_ role: String, of target: TargetName? = nil, besideSocket status: String) {
            let name = target.map { "\(role)/\($0)" } ?? role
            path = LocalService.path("\(name).sock", nextTo: status)
            self.role = target.map { "\(role) \($0)" } ?? role
            unit = "clientsecretd-\(role)" + (target.map { "@\($0)" } ?? "") + ".socket"
        }

        /// The remedy where nothing listens; nil: the failure code's own, which has systemd listen. Without systemd there is no
        /// command, because the program would not return. Blocks.
        var remedy: Remedy? {
            let context = CommandContext.current
            guard !context.hasSystemd || context.socket != nil else { return SocketUnit.remedy(of: unit) }
            return .say(
                "run clientsecretd-network next to the daemon, as the daemon's user, with the arguments listen "
                    + "\(ShellWord.quoted(path)) \(role)" + (role == "store" ? "" : "; run --once needs no socket"))
        }
    }

    /// Why no request is possible, as far as that is known without a connection, which would start the service. Nil if there is
    /// a socket, or if its directory may not be searched.
    func problem(at socket: Socket, for place: Failure.Place) -> Failure? {
        guard unsafe access(socket.path, F_OK) != 0, errno == ENOENT || errno == ENOTDIR else { return nil }
        return missing(at: socket, cause: errno, for: place)
    }

    /// The failure that no process listens that a secret may be sent to.
    private func missing(at socket: Socket, cause: Int32, for place: Failure.Place) -> Failure {
        Failure(missing, at: place, cause: cause, detail: socket.path, remedy: socket.remedy)
    }

    /// Connects to a service of root or the daemon's user, unless there were too many connections a moment ago. Blocks.
    func connect(to socket: Socket, for place: Failure.Place) throws(Failure) -> UnixStream {
        let now = BootTime(milliseconds: Clocks.bootMilliseconds())
        if let (path, wait) = connections.withLock({ $0.take([socket.path], at: now) }) {
            throw Failure(silent, at: place, detail: "too many connections to \(path)", retryAfter: wait)
        }
        let stream: UnixStream
        do {
            stream = try UnixStream(
                connectingTo: socket.path, timeoutSeconds: LocalService.connecting, milliseconds: timeout,
                cancel: cancel)
        } catch {
            throw missing(at: socket, cause: error.number, for: place)
        }
        do throws(FileError) {
            try LocalService.checkListener(try? stream.peer(), at: socket.path, as: identity)
        } catch {
            throw Failure(missing, at: place, detail: error.detail, remedy: error.remedy)
        }
        return stream
    }

    /// The failure of an answer to another request.
    func answeredAnotherRequest(for place: Failure.Place) -> Failure {
        Failure(silent, at: place, detail: "it answered another request")
    }

    /// Sends a request and reads the answer. Blocks.
    ///
    /// - Parameters:
    ///   - arguments: the absolute path and the arguments of a program that is started for this request if there is no socket;
    ///     nil to need a service.
    ///   - place: the place for which a failure is reported.
    ///   - unreadable: the failure's detail where `read` returns nil for the answer of a service.
    ///   - read: parses the answer; nil for one that cannot be parsed.
    func ask<Answer>(
        _ request: [UInt8], at socket: Socket, orOf arguments: [String]?, for place: Failure.Place,
        otherwise unreadable: String, read: ([UInt8]) -> Answer?
    ) throws(Failure) -> Answer {
        if let arguments, problem(at: socket, for: place) != nil {
            return try ask(request, of: arguments, for: place, read: read)
        }
        let stream = try connect(to: socket, for: place)
        let answer: [UInt8]
        do {
            // A service that takes no request closes before reading one.
            try? stream.write(line: request)
            answer = try stream.read(exactly: Self.longestAnswer + 1)
        } catch {
            throw Failure(silent, at: place, cause: error.number)
        }
        guard !answer.isEmpty else { throw Failure(silent, at: place, cause: Errno.connectionReset.rawValue) }
        guard answer.count <= Self.longestAnswer, let answer = read(answer) else {
            throw Failure(silent, at: place, detail: unreadable)
        }
        return answer
    }

    private func ask<Answer>(
        _ request: [UInt8], of arguments: [String], for place: Failure.Place, read: ([UInt8]) -> Answer?
    ) throws(Failure) -> Answer {
        let report: ExitReport
        do {
            report = try ChildProcess.exchange(
                with: arguments, environment: NetworkProgramEnvironment.current, milliseconds: timeout, cancel: cancel
            ) { stream in
                try? stream.write(line: request)
                // The program answers on its standard output; its end of this stream closes when it ends.
                _ = try? stream.read(exactly: 1)
            }.report
        } catch {
            // No socket is missing: none is needed where the program can be started.
            let remedy: Remedy? =
                error.errno == .noSuchFileOrDirectory ? .say("install the package \(NetworkProgramFile.name)") : nil
            throw Failure.notStarted(
                missing, at: place, cause: error.number, detail: arguments.first, remedy: remedy)
        }
        for line in report.lines.reversed() {
            if let answer = read(Array(line.utf8)) { return answer }
        }
        throw Failure(silent, at: place, detail: report.lines.last.map(Redaction.foreign))
    }
}
