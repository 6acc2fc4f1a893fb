import Failures
import Linux
import Model
import Rotation
import State

@testable import Daemon

extension Executor {
    /// An executor without configuration or anything to run, and by default without a state directory: its jobs fail, if they are carried out at
    /// all.
    static func idle(
        state: StateAccess = StateAccess(closed: Failure(.stateUnusable, at: .named("/nowhere"))),
        environment: [String: String] = [:],
        problemWithCredential: @escaping @Sendable (_ unit: String) -> Failure? = { _ in nil }
    ) throws -> Executor {
        let settings = ConfigurationSource(path: "/nowhere/clientsecretd.yaml", environment: environment)
        return Executor(
            settings: settings, naming: TemporaryNames(), state: state,
            services: try ServiceClients(of: settings, besideSocket: "/nowhere/socket"), log: Log(environment: [:]),
            problemWithCredential: problemWithCredential)
    }
}
