import Failures
import Linux
import Model
import Rotation
import State

@testable import Daemon

extension Executor {
    /// An executor without configuration, state directory or anything to run: its jobs fail, if they are carried out at
    /// all.
    static func idle() throws -> Executor {
        let settings = ConfigurationSource(path: "/nowhere/clientsecretd.yaml", environment: [:])
        return Executor(
            settings: settings, naming: try TemporaryNames(),
            state: StateAccess(closed: Failure(.stateUnusable, at: .named("/nowhere"))),
            services: try ServiceClients(of: settings, besideSocket: "/nowhere/socket"), log: Log(environment: [:]))
    }
}
