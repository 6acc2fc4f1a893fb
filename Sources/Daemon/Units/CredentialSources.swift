import Config
import Failures
import Keys
import Linux
import Model
import Store
import Systemd

/// The files from which systemd passes credentials to the daemon and to the services that log in elsewhere. Of the tokens in them,
/// only the problem with each is kept.
struct CredentialSources {
    /// That other users can read or replace the file from which systemd passes a key to the daemon, by the credential's name.
    private(set) var unguardedKeys: [String: Failure] = [:]
    /// The files of the daemon's credentials that have changed since its start, by the names of these.
    private(set) var changedFiles: [String: String] = [:]
    /// That other users can change the file from which systemd passes a target's token, and so decide where the secret goes.
    private(set) var unguardedTokens: [TargetName: Failure] = [:]
    /// That the file from which systemd passes a target's token has none that can be used.
    private(set) var unusableTokens: [TargetName: Failure] = [:]
    /// That other users can change files from which systemd passes credentials to the service that asks the store.
    private(set) var problemsWithStore: [Failure] = []

    /// Nothing was judged.
    init() {}

    /// Judges the files that a configuration's units name, as this process sees them. Blocks.
    ///
    /// - Parameter daemon: the name of the unit that runs the daemon.
    init(of units: [UnitInEffect], daemon: String, _ loaded: LoadedConfiguration) {
        let identity = Identity.current().acting(for: try? ServiceUnit.daemonAccount())
        for unit in units where unit.name == daemon {
            for credential in unit.settings.loadedCredentials {
                let exposure = Self.exposure(ofKey: credential, unit.settings, as: identity)
                unguardedKeys[credential] = exposure?.failure(.keyNotGuarded, at: .credential(credential))
                changedFiles[credential] =
                    Self.changedFile(of: credential, unit.settings, passedIn: "/run/credentials/\(daemon)")
            }
        }
        for unit in units where unit.name == PackageUnit.store {
            let loading = Set(unit.settings.loadedCredentials)
            for file in StoreConfiguration.File.allCases where loading.contains(file.credential) {
                let exposure = Self.exposure(of: file.credential, unit.settings, as: identity)
                problemsWithStore += [exposure?.failure(.storeFileNotGuarded, at: .store)].compactMap(\.self)
            }
        }
        for (target, credential) in loaded.tokenCredentials {
            for unit in units where unit.name == PackageUnit.pusher(of: target) {
                guard unit.settings.loadedCredentials.contains(credential) else { continue }
                let exposure = Self.exposure(of: credential, unit.settings, as: identity)
                unguardedTokens[target] = exposure?.failure(.pushFileNotGuarded, at: .target(target))
                unusableTokens[target] = Self.token(of: credential, unit.settings, as: identity)
                    .flatMap { loaded.problem(withTokenOf: target, $0) }
            }
        }
    }

    // MARK: Files

    /// Why a file is not guarded.
    struct Exposure: Sendable {
        let detail: String?
        let remedy: Remedy?

        fileprivate func failure(_ code: Failure.Code, at place: Failure.Place) -> Failure {
            Failure(code, at: place, detail: detail, remedy: remedy)
        }
    }

    /// In bytes.
    private static let longestKey = 16_384

    /// The file of `LoadCredential=` that no longer holds what systemd passed from it at the start; nil if it does, or this process
    /// may not read both.
    static func changedFile(
        of credential: String, _ settings: UnitSettings, passedIn directory: String
    ) -> String? {
        guard let path = settings.fileLoaded(as: credential),
            KeyCredential.isCurrent("\(directory)/\(credential)", of: path) == false
        else { return nil }
        return path
    }

    /// The token in the file of `LoadCredential=`, or why it has none; nil if that is not known.
    static func token(
        of credential: String, _ settings: UnitSettings, as identity: Identity
    ) -> Result<String, LoginFile.Unusable>? {
        // A missing file is a missing requirement of the unit.
        guard let path = settings.fileLoaded(as: credential), FileStatus.following(path)?.kind == .regular else {
            return nil
        }
        let token = Result { () throws(LoginFile.Unusable) in try LoginFile.token(at: path, as: identity) }
        // That others can change it is another problem.
        if case .failure(let problem) = token, problem.isUnguarded { return nil }
        return token
    }

    static func exposure(of credential: String, _ settings: UnitSettings, as identity: Identity) -> Exposure? {
        // Without a path, systemd itself has it.
        guard let path = settings.source(of: credential)?.path, path.hasPrefix("/") else { return nil }
        do throws(LoginFile.Unusable) {
            _ = try LoginFile.text(at: path, as: identity)
            return nil
        } catch {
            return error.isUnguarded ? Exposure(detail: error.words, remedy: error.remedy) : nil
        }
    }

    static func exposure(ofKey credential: String, _ settings: UnitSettings, as identity: Identity) -> Exposure? {
        // All users may read an encrypted one.
        guard let path = settings.fileLoaded(as: credential) else { return nil }
        return DiskTimeout.value(at: path) { () -> Exposure? in
            do throws(FileError) {
                _ = try TrustedFile.open(path, for: .key, as: identity, limit: longestKey)
                return nil
            } catch {
                guard [.notGuarded, .unguardedDirectory, .foreignOwner].contains(error.code) else { return nil }
                let words = [Printable.name(path), error.explanation(of: path)].compactMap(\.self)
                return Exposure(detail: words.joined(separator: ": "), remedy: error.remedy)
            }
        } ?? nil
    }
}

extension UnitSettings {
    /// The file that `LoadCredential=` names for a credential. What systemd decrypts, or another program sends, is not seen.
    fileprivate func fileLoaded(as credential: String) -> String? {
        source(of: credential).flatMap { $0.setting == "LoadCredential" ? $0.path : nil }
            .flatMap { $0.hasPrefix("/") ? $0 : nil }
    }
}
