import AppleClientSecret
import Failures
import Glibc
import Linux
import Push
import Rotation
import SystemPackage

/// The daemon's client of the services that put secrets into places behind an API: a socket for each target, one connection
/// for each request, a request and an answer. A service has a network and another user, so its words are shown with care.
struct Pusher: Sendable {
    /// Holds a socket for each target.
    private let directory: String
    private let cancel: EventCounter?
    private let patience: Int64

    /// In seconds: a local connection waits only when many others do.
    private static let connecting: Int64 = 10
    /// In bytes; an answer has a few hundred.
    private static let longestAnswer = 16_384

    /// - Parameters:
    ///   - status: the daemon's status socket; the directory of the others lies beside it.
    ///   - cancel: ends every request when raised.
    ///   - patience: in milliseconds. A service gives up 60 s after the request, and is started for it.
    init(besideSocket status: String, cancel: EventCounter?, patience: Int64 = 75_000) {
        directory = (status.lastIndex(of: "/").map { String(status[..<$0]) } ?? ".") + "/push"
        self.cancel = cancel
        self.patience = patience
    }

    /// Puts a secret into its place; returns whether it was seen there, nil where that is not shown. Blocks.
    func push(_ token: Token, to target: TargetName) throws(Failure) -> Bool? {
        switch try ask(PushQuestion(.publish, secret: token), of: target) {
        case .published(let verified): return verified
        case .failed(let failure): throw failure.of(target)
        case .read: throw Failure(.pushServiceSilent, at: .target(target), detail: "it answers another question")
        }
    }

    /// Whether a place holds a secret; nil where it does not show that. Blocks.
    func read(_ token: Token, at target: TargetName) throws(Failure) -> Bool? {
        switch try ask(PushQuestion(.read, secret: token), of: target) {
        case .read(let holds): return holds
        case .failed(let failure): throw failure.of(target)
        case .published: throw Failure(.pushServiceSilent, at: .target(target), detail: "it answers another question")
        }
    }

    /// Why nothing could be pushed, as far as can be seen without asking: nil where there is a socket, or the directory
    /// may not be searched.
    func obstacle(to target: TargetName) -> Failure? {
        let path = socket(of: target)
        guard unsafe access(path, F_OK) != 0, errno == ENOENT || errno == ENOTDIR else { return nil }
        return Failure(.pushServiceMissing, at: .target(target), detail: path)
    }

    private func socket(of target: TargetName) -> String { "\(directory)/\(target).sock" }

    private func ask(_ question: PushQuestion, of target: TargetName) throws(Failure) -> PushResult {
        let stream: UnixStream
        do {
            stream = try UnixStream.connect(to: socket(of: target), timeoutSeconds: Self.connecting)
        } catch {
            throw Failure(
                .pushServiceMissing, at: .target(target), cause: error.errno.rawValue, detail: socket(of: target))
        }
        let timed = TimedStream(stream, milliseconds: patience, cancel: cancel)
        let answer: [UInt8]
        do {
            // A service that takes no request closes before reading one.
            try? timed.write(question.request + [UInt8(ascii: "\n")])
            answer = try timed.read(exactly: Self.longestAnswer + 1)
        } catch {
            throw Failure(.pushServiceSilent, at: .target(target), cause: error.errno.rawValue)
        }
        guard !answer.isEmpty else {
            throw Failure(.pushServiceSilent, at: .target(target), cause: Errno.connectionReset.rawValue)
        }
        guard answer.count <= Self.longestAnswer, let result = PushResult(answer: answer) else {
            throw Failure(.pushServiceSilent, at: .target(target), detail: "it is no answer to a push")
        }
        return result
    }
}

extension PushFailure {
    /// The same for the core, with words that the service or an API chose: short, on one line, and without what looks like a
    /// secret.
    fileprivate func of(_ target: TargetName) -> Failure {
        Failure(
            code.failure, at: .target(target),
            detail: detail.map {
                Redaction.plain(Printable.clause(String(String.UnicodeScalarView($0.unicodeScalars.prefix(300)))))
            },
            retryAfter: retryAfter.map { Seconds(Int64($0)) })
    }
}
