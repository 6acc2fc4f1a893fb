import Failures
import Model
import StatusAPI
import SystemPackage

/// Why a command did not do what it was asked: the message for standard error, and the exit code.
struct CommandFailure: Error, Equatable {
    var message: String
    var code: Code

    /// The program's exit codes, those of sysexits.h where one fits. Scripts depend on them.
    enum Code: Int32 {
        case done = 0
        /// Anything else; for `inspect`, a secret that is not good.
        case failed = 1
        /// `verify`: it is not known whether Apple accepts the secret.
        case notKnown = 3
        /// Usage, or a bad value of a flag.
        case usage = 64
        /// A file named by a flag cannot be read.
        case unreadable = 66
        /// The daemon is not reachable.
        case unreachable = 69
        /// Another daemon holds the state directory.
        case held = 75
        case notPermitted = 77
        /// The configuration is not accepted.
        case configuration = 78

        /// With what a command exits that the daemon has not answered, or has not done what it was asked.
        fileprivate init(_ error: ClientError) {
            self =
                switch error {
                case .notReachable, .notConfigured, .timedOut, .ended, .foreignListener, .notHTTP: .unreachable
                case .notPermitted: .notPermitted
                case .malformed: .failed
                case .answered(let problem):
                    switch problem.status {
                    case 403: .notPermitted
                    case 408, 503: .unreachable
                    default: .failed
                    }
                }
        }
    }

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

extension CommandFailure {
    /// Why the daemon did not answer, or what it answered instead of doing what it was asked.
    init(_ error: ClientError) {
        self.init(Code(error), error.description)
    }

    /// The same where the command line names clients: a name that no client has is an error in it.
    init(naming error: ClientError) {
        if case .answered(let problem) = error, problem.status == 404 {
            self.init(.usage, problem.detail)
        } else {
            self.init(error)
        }
    }

    /// The configuration has nothing of this name.
    ///
    /// - Parameters:
    ///   - kind: what it was to be, such as a client.
    ///   - names: those that it has.
    ///   - path: the configuration's.
    static func unknown(_ kind: String, _ name: String, among names: [String], in path: String) -> CommandFailure {
        let near = suggestion(for: name, among: names).map { "; \($0)" } ?? ""
        return CommandFailure(.usage, "there is no \(kind) \"\(name)\" in \(path)\(near)")
    }

    /// What is wrong with a key of the configuration, where another line says it.
    init(configuredKey failure: Failure) {
        let isUnreadable = failure.cause.map { Errno(rawValue: $0) == .permissionDenied } == true
        self.init(isUnreadable ? .notPermitted : .failed, "")
    }

    /// What is wrong with a key that a flag names.
    init(keyNamedByFlag failure: Failure) {
        let isUnreadable =
            [.keyMissing, .keyUnreadable].contains(failure.code) || failure.code.traits.contains(.leavesNothingToRead)
        // The remedies of codes mention the configuration, which a flag does not use.
        let words = failure.hasRemedyOfItsOwn ? failure.sentence : failure.message
        self.init(isUnreadable ? .unreadable : .failed, words)
    }
}
