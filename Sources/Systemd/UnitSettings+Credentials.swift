/// Which credentials a service is passed, and which a file of the unit removes.
extension UnitSettings {
    private static let loading = [
        "LoadCredential", "LoadCredentialEncrypted", "SetCredential", "SetCredentialEncrypted",
    ]

    /// Whether the service is passed a credential of this name. A directory of credentials passes each of its files with the
    /// directory's name before it.
    package func loads(_ credential: String) -> Bool {
        Self.loading.contains { loads(credential, by: $0) }
    }

    /// The names of the credentials that `LoadCredential=` gets from a path. Not those whose text is set as well: with that text
    /// the unit starts without the path.
    package func credentials(from path: String) -> [String] {
        let set = Set(values.words("SetCredential") + values.words("SetCredentialEncrypted"))
        return values.items("LoadCredential").filter { $0.path == path && !set.contains($0.name) }.map(\.name)
    }

    private func loads(_ credential: String, by setting: String) -> Bool {
        values.words(setting).contains { $0 == credential || credential.hasPrefix($0 + "_") }
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

    /// The text that `SetCredential=` has for a file which does not exist does not replace the file.
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
