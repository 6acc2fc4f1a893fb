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
        team = section.needed("team_id", Self.parseTeamID, "write the team's ten characters")
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
            KeyConfiguration.Location.publicKey(try Self.parsePublicKey(text))
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
        let written = section.value("key_id", Self.parseKeyID)
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

/// The texts of ids and of a public key.
extension KeySettings {
    private static func parseTeamID(_ text: String) throws(ValueError) -> TeamID {
        if let team = TeamID(text) { return team }
        if text.hasPrefix("SEARCHADS") {
            throw ValueError("\(quoted(text)) is not a team id; Apple Ads shows one as SEARCHADS. and an id")
        }
        throw ValueError(
            appleID(text, "team id", TeamID(text.uppercased())?.description, "Apple shows it next to your name"))
    }

    private static func parseKeyID(_ text: String) throws(ValueError) -> KeyID {
        if let keyID = KeyID(text) { return keyID }
        throw ValueError(
            appleID(
                text, "key id", KeyID(text.uppercased())?.description,
                "it is in the name of the file, AuthKey_<KEYID>.p8"))
    }

    private static func appleID(_ text: String, _ kind: String, _ meant: String?, _ hint: String) -> String {
        let advice = meant.map { "did you mean \"\($0)\"?" } ?? "write its ten characters A–Z and 0–9 (\(hint))"
        return "\(quoted(text)) is not a \(kind); \(advice)"
    }

    /// The DER SubjectPublicKeyInfo of a key on P-256 (RFC 5480), uncompressed, in base64: as `public-key` prints it. Whether
    /// its point is on the curve is found when it is used. The value is not quoted: it may be a private key.
    private static func parsePublicKey(_ text: String) throws(ValueError) -> [UInt8] {
        let head: [UInt8] = [
            0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48,
            0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04,
        ]
        let characters = text.utf8.filter { $0 != UInt8(ascii: "=") }
        guard let bytes = Base64.decode(characters, in: .standard) ?? Base64URL.decode(characters),
            bytes.count == head.count + 64, bytes.starts(with: head)
        else {
            throw ValueError(
                "the value is not a public key on P-256; write what \"clientsecretd public-key\" prints on the machine "
                    + "that has the private key")
        }
        return bytes
    }
}
