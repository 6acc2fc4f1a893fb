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
            log: Log(environment: [:]), identity: settings.identity, naming: try TemporaryNames(),
            state: StateAccess(closed: Failure(.stateUnusable, at: .named("/nowhere"))), settings: settings,
            secretCache: SecretCache(), keyring: KeyCache(),
            writers: settings.writers(besideSocket: "/nowhere/socket", cancel: nil),
            verifier: settings.verifier(besideSocket: "/nowhere/socket", isOnce: false, cancel: nil),
            pusher: settings.pusher(besideSocket: "/nowhere/socket", isOnce: false, cancel: nil),
            storeService: try settings.storeService(besideSocket: "/nowhere/socket", cancel: nil), runner: nil,
            findings: nil)
    }
}
