import Failures
import Monitoring
import Rotation

extension Failure {
    /// Why the daemon did not answer, or what it answered instead of doing what it was asked.
    init(_ error: ClientError) {
        self.init(Code(rawValue: error.exitCode) ?? .failed, error.description)
    }

    /// What is wrong with a key that a flag names.
    init(keyNamedByFlag trouble: Trouble) {
        let code: Code =
            switch trouble.code {
            case .keyMissing, .keyUnreadable: .unreadable
            default: .failed
            }
        // The remedies speak of the configuration, which a flag is none of; one that came with the trouble is a command.
        let remedy = trouble.code == .keyNotGuarded ? trouble.remedy.map { "; \($0)" } ?? "" : ""
        self.init(code, trouble.message + remedy)
    }
}
