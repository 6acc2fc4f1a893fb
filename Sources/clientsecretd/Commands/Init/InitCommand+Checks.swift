import AppleClientSecret
import Daemon
import Failures
import Keys
import Linux
import Model
import Outputs

// The errors that `init` reports before it writes anything.
extension InitCommand {
    /// Throws if `--now` cannot start the programs that read the configuration.
    func checkNow(_ path: String) throws(CommandFailure) {
        guard now else { return }
        let problem: String
        if !ServiceUser.isSame(path, ServiceUser.configuration) {
            problem = "which reads \(ServiceUser.configuration); leave out --now or --config"
        } else if daemon.path() != SocketOption.standard {
            problem = "which listens at \(SocketOption.standard); leave out --socket"
        } else if !SystemManager.isSystemd {
            problem = "and systemd does not run here; leave out --now"
        } else {
            return
        }
        throw CommandFailure(.usage, "--now is for systemd's service, \(problem)")
    }

    /// Throws if a file that the application reads holds a secret of this key's id that another key signed. Apple knows only one
    /// of the two: the daemon would replace a secret that works by one that Apple refuses.
    static func checkSigner(
        of new: NewConfigurationFile, in files: [AbsolutePath], _ existing: ExistingConfiguration?, at now: WallTime
    ) throws(CommandFailure) {
        guard let (file, team, keyID) = key(of: new, existing), let key = try? NamedKey.publicKey(file.description)
        else { return }
        for path in files {
            guard let bytes = ForeignFile.read(path.description, limit: OutputLimits.fileSize),
                let other = foreign(in: bytes, to: key, team, keyID, at: now)
            else { continue }
            let end = other.expiresAt.map { ", which \(TimeWords.expiry($0, to: now))" } ?? ""
            throw CommandFailure(
                .failed,
                "\(Printable.name(path.description)) holds a secret of the key \(keyID)\(end), and "
                    + "\(Printable.name(file.description)) is another key: Apple knows only one of the two by this id. Name the "
                    + "key that signed the secret with --key. If Apple refuses that secret (clientsecretd verify "
                    + "\(ShellWord.quoted(path.description))), remove it from the file first; nothing was written.")
        }
    }

    /// An unexpired secret that states this team and key id and that this key did not sign; nil if there is none.
    static func foreign(
        in bytes: [UInt8], to key: PublicKey, _ team: TeamID, _ keyID: KeyID, at now: WallTime
    ) -> ForeignSecret? {
        ForeignSecret.all(in: bytes).first { secret in
            secret.stated.issuer.value == team.description && secret.stated.keyID.value == keyID.description
                && secret.expiresAt.map { now < $0 } == true && !secret.isSigned(by: [key])
        }
    }

    /// The file and the ids of the key that would sign; nil for one without a file or a key id.
    private static func key(
        of new: NewConfigurationFile, _ existing: ExistingConfiguration?
    ) -> (file: AbsolutePath, team: TeamID, keyID: KeyID)? {
        switch new.key {
        case .added(let key): (key.keyID ?? KeyID(fileName: key.file.name)).map { (key.file, key.team, $0) }
        case .existing(let name):
            existing?.entry(of: name).flatMap { entry in
                existing?.file(of: name).map { ($0, entry.team, entry.keyID) }
            }
        }
    }
}
