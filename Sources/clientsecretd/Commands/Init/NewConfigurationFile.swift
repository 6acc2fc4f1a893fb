import AppleClientSecret
import Formats
import Model

/// The configuration file that `init` writes: the first one, or one that adds a client.
struct NewConfigurationFile: Equatable {
    /// The key that signs the client's secrets.
    enum KeyEntry: Equatable {
        case added(AddedKey)
        /// One that the configuration has.
        case existing(KeyName)
    }

    struct AddedKey: Equatable {
        var team: TeamID
        /// Nil when the key file's name contains it.
        var keyID: KeyID?
        var file: AbsolutePath
        /// Its name in the configuration; nil: `apple`, the only one.
        var name: KeyName?
    }

    /// The place in which the application reads the secret.
    enum Destination: Equatable {
        case file(OutputFile)
        /// A credential of the unit that is restarted, by this name.
        case credential(String)
    }

    struct OutputFile: Equatable {
        var path: AbsolutePath
        /// The format's name.
        var format = FormatRegistry.standard.name
        var variable: String?
        /// The user that owns and writes the file; nil: the daemon's.
        var user: String?
        /// The group that may read it.
        var group: String?
    }

    var key: KeyEntry
    var name: ClientName
    var client: ClientID
    /// Nil if the secret goes only behind an API.
    var destination: Destination?
    /// Its place behind an API.
    var target: TargetEntry?
    /// The unit that is notified when the secret has changed.
    var unit: String?
    var verb: Action.UnitVerb = .restart

    /// The file of a key that is added.
    var keyFile: AbsolutePath? {
        if case .added(let key) = key { key.file } else { nil }
    }

    /// - Parameters:
    ///   - isOfService: whether it is for the package's service. There a group reads through a directory that has the
    ///     set-group-id bit (``SystemFiles``). The service's user is in no other group and could not give files away.
    ///   - isAddition: whether it is a drop-in file, which may hold no targets.
    func text(isOfService: Bool, isAddition: Bool = false) -> String {
        var lines = ["# Written by clientsecretd init. 'clientsecretd check' shows what the daemon would do."]
        // Also if there is only one key: a second one would leave it open.
        let keyName: String
        switch key {
        case .existing(let name): keyName = name.description
        case .added(let key):
            keyName = key.name?.description ?? "apple"
            lines += [
                "keys:", "  \(YAMLText.scalar(keyName)):",
                "    team_id: \(key.team)",
            ]
            if let keyID = key.keyID { lines.append("    key_id: \(keyID)") }
            lines += ["    file: \(YAMLText.scalar(key.file.description))", ""]
        }
        if let target, !isAddition { lines.append(target.text) }
        lines += ["clients:", "  \(YAMLText.scalar(name.description)):"]
        if client.kind != .signIn { lines.append("    kind: \(client.kind)") }
        if let id = client.identifier { lines.append("    client_id: \(id)") }
        let origins = client.origins.map { YAMLText.scalar($0.description) }
        switch client.kind.rules.origins {
        case .list where !origins.isEmpty: lines += ["    origin:"] + origins.map { "      - \($0)" }
        case .one where !origins.isEmpty: lines += origins.map { "    origin: \($0)" }
        case .list, .one, .none: break
        }
        if let scope = client.scope { lines.append("    scope: \(scope)") }
        lines.append("    key: \(YAMLText.scalar(keyName))")
        // An added client uses the configuration's "defaults".
        if !isAddition {
            lines += [
                "    # How long a secret is valid, and how long before it expires it is renewed.",
                "    lifetime: 90d",
                "    renew_before: 30d",
            ]
        }
        switch destination {
        case .file(let file):
            lines += ["    outputs:", "      - path: \(YAMLText.scalar(file.path.description))"]
            lines.append("        format: \(file.format)")
            if let variable = file.variable { lines.append("        variable: \(variable)") }
            if let user = file.user { lines.append("        as: \(YAMLText.scalar(user))") }
            if let group = file.group {
                lines.append("        mode: \"0640\"")
                if !isOfService { lines.append("        group: \(YAMLText.scalar(group))") }
            }
        case .credential, nil: break
        }
        if let target {
            if !lines.contains("    outputs:") { lines.append("    outputs:") }
            lines.append("      - push: \(YAMLText.scalar(target.name.description))")
        }
        if case .credential(let name) = destination {
            lines += [
                "    credential:", "      unit: \(YAMLText.scalar(unit ?? ""))", "      name: \(YAMLText.scalar(name))",
            ]
        }
        if let unit { lines += ["    on_change:", "      - \(verb.rawValue): \(YAMLText.scalar(unit))"] }
        return lines.joined(separator: "\n") + "\n"
    }
}
