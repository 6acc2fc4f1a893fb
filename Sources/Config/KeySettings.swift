package import AppleClientSecret
package import Model

/// One entry of `keys`.
struct KeySettings {
    static let names = [
        "team_id", "key_id", "file", "credential", "passphrase_file", "passphrase_credential", "public_key",
    ]

    let name: Located<KeyName>
    let team: Setting<TeamID>
    let keyID: Setting<KeyID>
    let location: Setting<KeyConfiguration.Location>
    let passphrase: Setting<KeyConfiguration.Location>

    /// Nil when its name is invalid or its value no mapping; its settings are still checked.
    init?(_ entry: YAMLEntry, _ diagnostics: Diagnostics) {
        let (name, owner) = Scalar.name(of: entry, "key", diagnostics) { KeyName($0) }
        guard
            let section = Section(entry.value, of: owner, at: entry.key.position, names: Self.names, diagnostics)
        else { return nil }
        team = section.needed("team_id", Scalar.teamID, "write the team's ten characters")
        location = Self.location(in: section)
        if location.isAbsent {
            diagnostics.error(at: section.position, "\(owner) names no private key; write \"file\" or \"credential\"")
        }
        passphrase = Self.location(
            in: section, file: "passphrase_file", credential: "passphrase_credential", secret: true)
        if let place = location.value, let phrase = passphrase.located, place == phrase.value {
            diagnostics.error(
                at: phrase.position, "this is the private key itself; write the file that holds its passphrase")
        }
        keyID = Self.keyID(in: section, location: location)
        Self.checkIDs(of: owner, team: team, keyID: keyID, location: location, diagnostics)
        guard let name else { return nil }
        self.name = name
    }

    /// Reports a team id and a key id in each other's place.
    private static func checkIDs(
        of owner: String, team: Setting<TeamID>, keyID: Setting<KeyID>, location: Setting<KeyConfiguration.Location>,
        _ diagnostics: Diagnostics
    ) {
        guard let team = team.located, let keyID = keyID.located else { return }
        let named = location.value?.keyIDOfFileName
        if team.value.description == keyID.value.description {
            diagnostics.error(
                at: team.position,
                "\(owner) has the same id as \"team_id\" and as \"key_id\"; write the team id, which Apple shows under "
                    + "Membership, as \"team_id\"")
        } else if team.value.description == named?.description {
            diagnostics.error(
                at: team.position,
                "\"team_id\" is the key id in the file's name; write the team id, which Apple shows under Membership")
        }
    }

    /// Whether it is only the public half.
    var isPublic: Bool {
        if case .publicKey? = location.value { true } else { false }
    }

    /// The key with these settings; nil when one of them is wrong.
    var configuration: KeyConfiguration? {
        guard let team = team.value, let keyID = keyID.value, let location = location.value else { return nil }
        return KeyConfiguration(team: team, keyID: keyID, location: location, passphrase: passphrase.value)
    }

    /// The path of the private key, or the public half in its place.
    private static func location(in section: Section) -> Setting<KeyConfiguration.Location> {
        let place = location(in: section, file: "file", credential: "credential", secret: false)
        let publicKey = section.value("public_key") { text throws(ValueError) in
            KeyConfiguration.Location.publicKey(try Scalar.publicKey(text))
        }
        guard section.has("public_key") else { return place.or(publicKey) }
        let others = ["file", "credential", "passphrase_file", "passphrase_credential"].filter(section.has)
        guard let other = others.first else { return publicKey }
        section.diagnostics.error(
            at: max(section.position(of: other), section.position(of: "public_key")),
            "\"public_key\" is for a machine without the private key and excludes \"\(other)\"; keep one")
        return .wrong
    }

    /// `key_id`, else the id in the file name that Apple gave.
    private static func keyID(in section: Section, location: Setting<KeyConfiguration.Location>) -> Setting<KeyID> {
        let written = section.value("key_id", Scalar.keyID)
        guard let place = location.located else { return written }
        let named = place.value.keyIDOfFileName
        switch written {
        case .given(let keyID):
            if let named, named != keyID.value {
                section.diagnostics.warning(
                    at: keyID.position,
                    "key id \(keyID.value) is not the one in the file's name, \(named); write the one that Apple shows for this key"
                )
            }
            return written
        case .wrong: return .wrong
        case .absent:
            if let named { return .given(Located(named, at: place.position)) }
            section.diagnostics.error(
                at: section.position,
                "\(section.owner) has no \"key_id\"; write it, or call the file AuthKey_<KEYID>.p8 as Apple does")
            return .wrong
        }
    }

    /// - Parameter secret: the value may be the passphrase itself, written in the wrong place.
    private static func location(
        in section: Section, file: String, credential: String, secret: Bool
    ) -> Setting<KeyConfiguration.Location> {
        section.either(
            file, { text throws(ValueError) in .file(try Scalar.path(text, secret: secret)) },
            or: credential, { text throws(ValueError) in .credential(try Scalar.credential(text, secret: secret)) })
    }
}

extension KeyConfiguration.Location {
    /// The key id in the file's name; nil if there is none.
    package var keyIDOfFileName: KeyID? {
        if case .file(let path) = self { KeyID(fileName: path.name) } else { nil }
    }
}

extension KeySettings {
    /// The files of a private key and of its passphrase, each with its name in messages.
    static func files(
        of name: KeyName, _ location: KeyConfiguration.Location?, passphrase: KeyConfiguration.Location?
    ) -> [(path: AbsolutePath, what: String)] {
        [(location, "the private key of"), (passphrase, "the passphrase of key")].compactMap { place, what in
            if case .file(let path)? = place { (path, "\(what) \"\(name)\"") } else { nil }
        }
    }

    /// The same of all keys, in the order of their names.
    static func files(of keys: [KeyName: KeyConfiguration]) -> [(path: AbsolutePath, what: String)] {
        keys.sorted { $0.key < $1.key }
            .flatMap { files(of: $0.key, $0.value.location, passphrase: $0.value.passphrase) }
    }
}
