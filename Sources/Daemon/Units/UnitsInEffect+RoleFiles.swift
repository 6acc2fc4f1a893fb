import Config
import Failures
import Linux
import Model
import Store
import Systemd

/// The files that the configuration names for the network program, such as tokens and certificates, as its services see them.
extension UnitsInEffect {
    /// Why a service of the network program does not get a file that the configuration names for it; nil if no reason is known.
    /// Blocks.
    static func objection(to file: AbsolutePath, of unit: String, _ settings: UnitSettings) -> String? {
        if case .hidden(let setting)? = settings.sandbox()?.view(of: file.description) {
            return "\(unit) does not see \(file) (\(setting))"
        }
        // systemd makes the user of such a service, to whom no file belongs.
        guard settings.hasOnlyOwnUser, !file.isReadableByAll else { return nil }
        return "the user of \(unit) may not read \(file)"
    }

    private func objection(to file: AbsolutePath, of unit: String) -> String? {
        settings(of: unit).flatMap { Self.objection(to: file, of: unit, $0) }
    }

    private func settings(of unit: String) -> UnitSettings? { units.first { $0.name == unit }?.settings }

    /// The user of a unit, which trusts only root if systemd creates it; nil for a unit that systemd does not know.
    func identity(of unit: String) -> Identity? {
        settings(of: unit).map { settings in
            Identity.current().acting(for: settings.user.flatMap { try? Accounts.user(named: $0) })
        }
    }

    /// Why the service that pushes to a target does not get the files that the target names.
    ///
    /// - Parameter files: each with the code of a failure about it.
    func problems(
        with target: TargetName, files: [(path: AbsolutePath, code: Failure.Code)]
    ) -> [Failure] {
        let unit = Self.unit(of: target)
        return files.compactMap { path, code in
            objection(to: path, of: unit).map { words in
                let remedy: Remedy =
                    code == .pushFileUnusable
                    ? .say(
                        "put it below /etc/ssl, readable by every user, and write \"ca_file: /etc/ssl/\(path.name)\"")
                    : .say(
                        "write \"token_credential: \(target)-token\" instead of \"token_file\", and "
                            + "\(UnitFileLine.loadCredential("\(target)-token", from: path.description)) into the [Service] "
                            + "section of the unit with systemctl edit \(unit)")
                return Failure(code, at: .target(target), detail: words, remedy: remedy)
            }
        }
    }

    /// The same for the service that asks the store.
    func problems(withStoreFiles files: [(setting: StoreConfiguration.File, path: AbsolutePath)]) -> [Failure] {
        files.compactMap { setting, path in
            objection(to: path, of: Self.store).map { words in
                Failure(
                    .storeFileUnusable, at: .store, detail: words,
                    remedy: .say(
                        "put it there as \(StoreConfiguration.File.directory)/\(setting.name), which systemd passes to the "
                            + "service, and remove \"\(setting.rawValue)\""))
            }
        }
    }
}
