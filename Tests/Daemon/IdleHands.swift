import Linux
import Rotation

@testable import Daemon

extension Hands {
    /// Hands without a configuration, a state directory or anything to run: what they are given fails, if it is done at all.
    static func idle() throws -> Hands {
        let settings = SettingsSource(path: "/nowhere/clientsecretd.yaml", environment: [:])
        return Hands(
            log: Log(environment: [:]), identity: settings.identity, naming: try TemporaryNames(),
            state: StateDoor(closed: Trouble(.stateUnusable, at: .named("/nowhere"))), settings: settings,
            shelf: Shelf(), keyring: Keyring(), writers: settings.writers(besideSocket: "/nowhere/socket", cancel: nil),
            runner: nil,
            findings: nil)
    }
}
