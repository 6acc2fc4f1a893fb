import Glibc
import Linux

/// Which credentials a service is passed, and which a file of the unit removes.
extension UnitSettings {
    /// In the order in which systemd takes them: a credential that is loaded is neither imported nor set (systemd.exec(5)).
    private static let sources = [
        "LoadCredential", "LoadCredentialEncrypted", "ImportCredential", "SetCredential", "SetCredentialEncrypted",
    ]
    /// Those that name one credential each.
    private static let loading = sources.filter { $0 != "ImportCredential" }

    /// The source of a credential.
    package struct CredentialSource: Hashable, Sendable {
        /// As in a unit file, such as `LoadCredential`.
        package let setting: String
        /// A file or socket, or the name of a credential that systemd itself has; nil where the setting has none.
        package let path: String?
    }

    /// The names of the credentials that come from files, or that systemd itself has.
    package var loadedCredentials: [String] { values["LoadCredential"].words + values["LoadCredentialEncrypted"].words }

    /// Whether the service is passed a credential of this name.
    package func loads(_ credential: String) -> Bool { source(of: credential) != nil }

    /// Where the service gets the credential of this name from; nil if it is passed none. A directory of credentials passes each
    /// of its files with the directory's name before it.
    package func source(of credential: String) -> CredentialSource? {
        for setting in Self.sources where loads(credential, by: setting) {
            let path = values[setting].items.first { $0.name == credential }?.path
            return CredentialSource(setting: setting, path: setting.hasPrefix("Load") ? path : nil)
        }
        return nil
    }

    /// The names of the credentials that `LoadCredential=` gets from a path. Not those whose text is set as well: with that text
    /// the unit starts without the path.
    package func credentials(from path: String) -> [String] {
        let set = Set(values["SetCredential"].words + values["SetCredentialEncrypted"].words)
        return values["LoadCredential"].items.filter { item in
            item.path.map { RealPath.of($0) == RealPath.of(path) } == true && !set.contains(item.name)
        }.map(\.name)
    }

    /// The file and line of the last assignment of a setting that names the credential; nil if that is not known, as for a value
    /// with specifiers.
    package func place(of credential: String, by setting: String) -> (file: String, line: Int)? {
        place(of: setting) { Self.isNamed(credential, by: String($0.prefix { $0 != ":" }), setting) }
    }

    private func loads(_ credential: String, by setting: String) -> Bool {
        values[setting].words.contains { Self.isNamed(credential, by: $0, setting) }
    }

    private static func isNamed(_ credential: String, by name: String, _ setting: String) -> Bool {
        if setting == "ImportCredential" { return unsafe fnmatch(name, credential, 0) == 0 }
        return name == credential || credential.hasPrefix(name + "_")
    }

    /// A credential that a file of the unit names, and that a later one removes: it clears the setting.
    package struct RemovedCredential: Hashable, Sendable {
        package let name: String
        /// The assignment that it takes to have it again, such as `LoadCredential=token:/etc/token`; without the text of a
        /// credential that is set.
        package let assignment: String
        /// The file that clears the setting.
        package let file: String
    }

    /// The text that `SetCredential=` has for a file which does not exist does not replace the file, unless it was set after the
    /// file was removed.
    package var removedCredentials: [RemovedCredential] {
        cleared(Self.loading) { $0.prefix { $0 != ":" } }.filter { removed in
            !loads(removed.name, by: removed.setting)
                && !Self.loading.contains { $0.hasPrefix("Load") && loads(removed.name, by: $0) }
        }.map { setting, name, value, file in
            RemovedCredential(
                name: name, assignment: setting + "=" + (setting.hasPrefix("Set") ? name + ":…" : value), file: file)
        }
    }
}
