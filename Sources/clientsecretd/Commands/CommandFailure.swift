import Failures
import Linux
import Model
import StatusAPI
import SystemPackage

/// Why a command did not succeed: the message for standard error, and the exit code.
struct CommandFailure: Error, Equatable {
    var message: String
    var code: CommandExitStatus

    init(_ code: CommandExitStatus, _ message: String) {
        self.code = code
        self.message = message
    }
}

extension CommandFailure {
    /// Why the daemon did not answer, or its answer instead of carrying out the request.
    init(_ error: StatusClientError) {
        self.init(CommandExitStatus(error), error.description)
    }

    /// The same if the command line names clients: a name that no client has is an error in it.
    init(naming error: StatusClientError) {
        if case .answered(let problem) = error, problem.status == 404 {
            self.init(.usage, problem.detail)
        } else {
            self.init(error)
        }
    }

    /// Runs `body`; a system error in it fails the command.
    static func explaining<Value>(_ body: () throws(SystemError) -> Value) throws(CommandFailure) -> Value {
        do throws(SystemError) { return try body() } catch { throw CommandFailure(.failed, error.description) }
    }

    /// The configuration has nothing of this name.
    ///
    /// - Parameters:
    ///   - kind: the expected kind, such as a client.
    ///   - names: those that it has.
    ///   - path: the configuration's.
    static func unknown(_ kind: String, _ name: String, among names: [String], in path: String) -> CommandFailure {
        let near = suggestion(for: name, among: names).map { "; \($0)" } ?? ""
        return CommandFailure(.usage, "there is no \(kind) \"\(name)\" in \(path)\(near)")
    }

    /// The problem with a key of the configuration, if another line reports it.
    init(configuredKey failure: Failure) {
        let isUnreadable = failure.cause.map { Errno(rawValue: $0) == .permissionDenied } == true
        self.init(isUnreadable ? .notPermitted : .failed, "")
    }

    /// The problem with a key that a flag names.
    init(keyNamedByFlag failure: Failure) {
        let isUnreadable =
            [.keyMissing, .keyUnreadable].contains(failure.code) || failure.code.traits.contains(.leavesNothingToRead)
        // The remedies of codes mention the configuration, which a flag does not use.
        let words = failure.hasRemedyOfItsOwn ? failure.sentence : failure.message
        self.init(isUnreadable ? .unreadable : .failed, words)
    }
}
