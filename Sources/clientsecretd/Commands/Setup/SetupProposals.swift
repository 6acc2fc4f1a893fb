import AppleClientSecret
import Daemon
import Linux
import Model

/// What `init` offers at a terminal, as found on this machine.
struct SetupProposals {
    var key: AbsolutePath?
    var unit: String?

    /// The key file that Apple gave, by its name, and the service that runs with the secret of `--from`.
    ///
    /// - Parameter environment: of this process.
    init(for found: FoundClient?, in file: AbsolutePath?, _ environment: [String: String]) {
        guard let found else { return }
        if let id = found.keyID {
            let directories = ["/etc/clientsecretd", environment["PWD"], environment["HOME"]]
            key = directories.compactMap { $0.flatMap { AbsolutePath($0 + "/AuthKey_\(id).p8") } }
                .first { Self.isOffered($0, ServiceUser.identity) }
        }
        guard let file else { return }
        let services = RunningProcess.services(reading: found.fingerprint, in: file)
        // Of several none is more likely than the others.
        if services.count == 1 { unit = services.first }
    }

    init() {}

    /// Not what another user has placed there, such as a link to another user's key: what is offered is accepted without a second look.
    static func isOffered(_ key: AbsolutePath, _ identity: Identity) -> Bool {
        do throws(FileError) {
            return try TrustedFile.check(key.description, for: .configuration, as: identity).kind == .regular
        } catch {
            return false
        }
    }
}
