import Linux
import Rotation

@testable import Daemon

extension Executor {
    /// Hands without a configuration, a state directory or anything to run: what they are given fails, if it is done at all.
    static func idle() throws -> Executor {
        let settings = SettingsSource(path: "/nowhere/clientsecretd.yaml", environment: [:])
        return Executor(
            log: Log(environment: [:]), identity: settings.identity, naming: try TemporaryNames(),
            state: StateAccess(closed: Failure(.stateUnusable, at: .named("/nowhere"))), settings: settings,
            secretCache: SecretCache(), keyring: Keyring(),
            writers: settings.writers(besideSocket: "/nowhere/socket", cancel: nil),
            runner: nil,
            findings: nil)
    }
}
