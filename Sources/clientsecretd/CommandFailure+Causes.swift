import Failures
import Rotation
import StatusAPI

extension CommandFailure {
    /// Why the daemon did not answer, or what it answered instead of doing what it was asked.
    init(_ error: ClientError) {
        self.init(Code(rawValue: error.exitCode) ?? .failed, error.description)
    }

    /// What is wrong with a key that a flag names.
    init(keyNamedByFlag failure: Failure) {
        let code: Code =
            switch failure.code {
            case .keyMissing, .keyUnreadable: .unreadable
            default: .failed
            }
        // Remedies mention the configuration, which a flag does not use; only that of `keyNotGuarded` is a command.
        let remedy = failure.code == .keyNotGuarded ? failure.remedy.map { "; \($0)" } ?? "" : ""
        self.init(code, failure.message + remedy)
    }
}
