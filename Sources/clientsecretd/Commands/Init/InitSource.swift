import AppleClientSecret
import Config
import Daemon
import Failures
import Glibc
import Linux
import Model
import Outputs

/// The file of `init --from`.
struct InitSource {
    private let path: AbsolutePath
    private let bytes: [UInt8]
    /// The user that writes it from now on; nil: the daemon's.
    let user: String?

    init(_ path: AbsolutePath, isOfService: Bool) throws(CommandFailure) {
        self.path = path
        bytes = try NamedFile.read(path.description, limit: OutputLimits.fileSize)
        user = try Self.user(owning: path, isOfService: isOfService)
    }

    /// The user that owns a file; nil if that is the daemon's own, or there is no such file.
    static func user(owning path: AbsolutePath, isOfService: Bool) throws(CommandFailure) -> String? {
        let service = try CommandFailure.explaining { () throws(SystemError) in
            isOfService ? try ServiceUnit.daemonAccount() : nil
        }
        let daemon = isOfService ? service?.id : geteuid()
        guard let owner = FileStatus.following(path.description)?.owner, owner != daemon else { return nil }
        guard let name = (try? Accounts.user(id: owner))?.name else {
            throw CommandFailure(
                .failed,
                "\(Printable.name(path.description)) belongs to the user \(owner), which has no name on this machine; give it to "
                    + "the user of the application")
        }
        return Owner.setting(userNamed: name)
    }

    /// The client whose secret it holds.
    ///
    /// - Parameters:
    ///   - variable: the one that a flag names.
    ///   - dialog: asks which one, if there are several.
    func client(variable: String?, client: ClientID?, _ dialog: InitDialog?) throws -> FoundClient {
        let name = path.description
        let found = FoundClient.all(in: bytes, of: name, variable: variable, client: client)
        guard let first = found.first else {
            throw FoundClient.missing(in: bytes, of: name, variable: variable)
        }
        if found.count == 1 { return first }
        guard let dialog else { throw FoundClient.ambiguous(found, in: name) }
        return try dialog.choose(from: found)
    }
}
