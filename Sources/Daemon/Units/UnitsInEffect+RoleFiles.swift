import Failures
import Model
import Store

/// The files that the configuration names for the network program, such as tokens and certificates, as its services see them.
extension UnitsInEffect {
    /// Why the service that pushes to a target does not get the files that the target names.
    ///
    /// - Parameter files: each with the code of a failure about it.
    func problems(
        with target: TargetName, files: [(path: AbsolutePath, code: Failure.Code)]
    ) -> [Failure] {
        let name = PackageUnit.pusher(of: target)
        guard let unit = unit(name) else { return [] }
        return files.compactMap { path, code in
            unit.objection(to: path).map { words in
                let remedy: Remedy =
                    code == .pushFileUnusable
                    ? unit.remedy(forCAFile: path)
                    : .say(
                        "write \"token_credential: \(target)-token\" instead of \"token_file\", and "
                            + "\(UnitFileLine.loadCredential("\(target)-token", from: path.description)) into the [Service] "
                            + "section of the unit with systemctl edit \(name)")
                return Failure(code, at: .target(target), detail: words, remedy: remedy)
            }
        }
    }

    /// The same for the service that asks the store.
    func problems(withStoreFiles files: [(setting: StoreConfiguration.File, path: AbsolutePath)]) -> [Failure] {
        let unit = unit(PackageUnit.store)
        return files.compactMap { setting, path in
            unit?.objection(to: path).map { words in
                Failure(
                    .storeFileUnusable, at: .store, detail: words,
                    remedy: .say(
                        "put it there as \(StoreConfiguration.File.directory)/\(setting.name), which systemd passes to the "
                            + "service, and remove \"\(setting.rawValue)\""))
            }
        }
    }
}

extension UnitInEffect {
    /// The remedy for a file of certificates that it does not get.
    func remedy(forCAFile path: AbsolutePath) -> Remedy {
        let place = "/etc/ssl/\(path.name)"
        return remedy(
            forHiddenBy: setting(hiding: path),
            "put it below /etc/ssl, readable by every user, and write \"ca_file: \(place)\"",
            unless: AbsolutePath(place).flatMap { setting(hiding: $0) })
    }
}
