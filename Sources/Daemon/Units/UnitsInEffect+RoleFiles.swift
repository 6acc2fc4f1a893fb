import Config
import Failures
import Keys
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

    /// The user of a unit, which trusts only root if systemd creates it; nil for a unit that systemd does not know.
    func identity(of unit: String) -> Identity? {
        settings(of: unit).map { settings in
            Identity.current().acting(for: settings.user.flatMap { try? Accounts.user(named: $0) })
        }
    }

    /// The problem that other users can change the file from which systemd passes a target's token, and so decide where the
    /// secret goes; nil if they cannot, or it is not known.
    ///
    /// - Parameter token: the credential that holds the token; nil for a target without one.
    func problem(withSourceOf token: String?, of target: TargetName) -> Failure? {
        token.flatMap { openSources[Source(unit: PackageUnit.pusher(of: target), credential: $0)] }.map {
            Failure(.pushFileNotGuarded, at: .target(target), detail: $0.detail, remedy: $0.remedy)
        }
    }

    /// The same for the credentials of the service that asks the store.
    var problemsWithSourcesOfStore: [Failure] {
        StoreConfiguration.File.allCases.compactMap {
            openSources[Source(unit: PackageUnit.store, credential: $0.credential)]
        }.map { Failure(.storeFileNotGuarded, at: .store, detail: $0.detail, remedy: $0.remedy) }
    }

    /// The problem that other users can read or replace the file from which systemd passes a key to the daemon.
    func problem(withSourceOfKey credential: String) -> Failure? {
        openSources[Source(unit: daemon, credential: credential)].map {
            Failure(.keyNotGuarded, at: .credential(credential), detail: $0.detail, remedy: $0.remedy)
        }
    }

    /// A unit's credential.
    struct Source: Hashable {
        let unit: String
        let credential: String
    }

    /// Why the file from which systemd passes a credential is not guarded.
    struct OpenSource: Sendable {
        let detail: String?
        let remedy: Remedy?
    }

    /// In bytes.
    private static let longestKey = 16_384

    /// The same, with the files of credentials judged as this process sees them. Blocks.
    package var withJudgedSources: UnitsInEffect {
        let identity = Identity.current().acting(for: try? ServiceUnit.daemonAccount())
        var judged = self
        for (unit, settings) in units where unit == daemon || Self.isOfNetwork(unit) {
            for credential in settings.loadedCredentials {
                let source = Source(unit: unit, credential: credential)
                if unit == daemon {
                    judged.openSources[source] = Self.openSource(ofKey: credential, settings, as: identity)
                    judged.changedSources[source] =
                        Self.changedSource(of: credential, settings, passedIn: "/run/credentials/\(unit)")
                } else {
                    judged.openSources[source] = Self.openSource(of: credential, settings, as: identity)
                    if unit != PackageUnit.store {
                        judged.tokens[source] = Self.token(of: credential, settings, as: identity)
                    }
                }
            }
        }
        return judged
    }

    /// The file of `LoadCredential=` that no longer holds what systemd passed from it at the start; nil if it does, or this process
    /// may not read both.
    static func changedSource(
        of credential: String, _ settings: UnitSettings, passedIn directory: String
    ) -> String? {
        guard let source = settings.source(of: credential), source.setting == "LoadCredential",
            let path = source.path, path.hasPrefix("/"),
            KeyCredential.isCurrent("\(directory)/\(credential)", of: path) == false
        else { return nil }
        return path
    }

    /// The problem that the daemon's next start is passed another credential than the process that runs, or none.
    func problem(withCredential name: String) -> Failure? {
        settings(of: daemon).flatMap {
            Self.problem(
                withCredential: name, of: daemon, $0,
                changed: changedSources[Source(unit: daemon, credential: name)])
        }
    }

    /// - Parameter source: the file, if it has changed since the start.
    static func problem(
        withCredential name: String, of unit: String, _ settings: UnitSettings, changed source: String? = nil
    ) -> Failure? {
        if let source {
            return Failure(
                .credentialMissing, at: .credential(name),
                detail: "\(Printable.name(source)) has changed since \(unit) was started, and systemd passes "
                    + "credentials only at a start",
                remedy: .run(.restart(unit), otherwise: "restart \(unit)"))
        }
        guard !settings.loads(name), let (detail, remedy) = explanation(of: unit, settings, name) else { return nil }
        return Failure(
            .credentialMissing, at: .credential(name), detail: "\(detail), so only the process that runs still has it",
            remedy: remedy)
    }

    /// The token that systemd passes to the service of a target, or why its file has none; nil if that is not known.
    func token(of target: TargetName, credential: String?) -> Result<String, LoginFile.Unusable>? {
        credential.flatMap { tokens[Source(unit: PackageUnit.pusher(of: target), credential: $0)] }
    }

    static func token(
        of credential: String, _ settings: UnitSettings, as identity: Identity
    ) -> Result<String, LoginFile.Unusable>? {
        // What systemd decrypts, or another program sends, is not seen. A missing file is a missing requirement of the unit.
        guard let source = settings.source(of: credential), source.setting == "LoadCredential",
            let path = source.path, path.hasPrefix("/"), FileStatus.following(path)?.kind == .regular
        else { return nil }
        let token = Result { () throws(LoginFile.Unusable) in try LoginFile.token(at: path, as: identity) }
        // That others can change it is another problem.
        if case .failure(let problem) = token, problem.isUnguarded { return nil }
        return token
    }

    static func openSource(of credential: String, _ settings: UnitSettings, as identity: Identity) -> OpenSource? {
        // Without a path, systemd itself has it.
        guard let path = settings.source(of: credential)?.path, path.hasPrefix("/") else { return nil }
        do throws(LoginFile.Unusable) {
            _ = try LoginFile.text(at: path, as: identity)
            return nil
        } catch {
            return error.isUnguarded ? OpenSource(detail: error.words, remedy: error.remedy) : nil
        }
    }

    static func openSource(ofKey credential: String, _ settings: UnitSettings, as identity: Identity) -> OpenSource? {
        // All users may read an encrypted one.
        guard let source = settings.source(of: credential), source.setting == "LoadCredential",
            let path = source.path, path.hasPrefix("/")
        else { return nil }
        return DiskTimeout.value(at: path) { () -> OpenSource? in
            do throws(FileError) {
                _ = try TrustedFile.open(path, for: .key, as: identity, limit: longestKey)
                return nil
            } catch {
                guard [.notGuarded, .unguardedDirectory, .foreignOwner].contains(error.code) else { return nil }
                let words = [Printable.name(path), error.explanation(of: path)].compactMap(\.self)
                return OpenSource(detail: words.joined(separator: ": "), remedy: error.remedy)
            }
        } ?? nil
    }

    /// Why the service that pushes to a target does not get the files that the target names.
    ///
    /// - Parameter files: each with the code of a failure about it.
    func problems(
        with target: TargetName, files: [(path: AbsolutePath, code: Failure.Code)]
    ) -> [Failure] {
        let unit = PackageUnit.pusher(of: target)
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
            objection(to: path, of: PackageUnit.store).map { words in
                Failure(
                    .storeFileUnusable, at: .store, detail: words,
                    remedy: .say(
                        "put it there as \(StoreConfiguration.File.directory)/\(setting.name), which systemd passes to the "
                            + "service, and remove \"\(setting.rawValue)\""))
            }
        }
    }
}
