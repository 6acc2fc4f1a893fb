import AppleClientSecret
import Rotation

/// Reads one entry of `keys`.
struct KeyReader {
    static let names = [
        "team_id", "key_id", "file", "credential", "passphrase_file", "passphrase_credential",
    ]

    let complaints: Diagnostics

    /// Nil when its name is invalid or its value no mapping; its settings are checked all the same.
    func read(_ entry: YAMLEntry) -> KeyDraft? {
        let name = KeyName(entry.key)
        if name == nil { complaints.error(at: entry.keyPosition, Plain.badName(entry.key)) }
        let owner = name.map { "key \"\($0)\"" } ?? "this key"
        guard
            let section = Section(
                entry.value, of: owner, at: entry.keyPosition, names: Self.names, complaints: complaints)
        else { return nil }
        let team = section.value("team_id") { text throws(Mistake) in try Plain.team(text) }
        if team.isAbsent {
            complaints.error(at: section.position, "\(owner) has no \"team_id\"; write the team's ten characters")
        }
        let location = self.location(in: section, file: "file", credential: "credential", secret: false)
        if location.isAbsent {
            complaints.error(at: section.position, "\(owner) names no private key; write \"file\" or \"credential\"")
        }
        let passphrase = self.location(
            in: section, file: "passphrase_file", credential: "passphrase_credential", secret: true)
        if let place = location.value, let phrase = passphrase.placed, place == phrase.value {
            complaints.error(at: phrase.position, "this is the private key itself; write where its passphrase lies")
        }
        let keyID = self.keyID(in: section, location: location, owner: owner)
        return name.map {
            KeyDraft(
                name: Placed($0, entry.keyPosition), team: team, keyID: keyID, location: location,
                passphrase: passphrase)
        }
    }

    /// `key_id`, else the id in the file name that Apple gave.
    private func keyID(in section: Section, location: Setting<KeyConfiguration.Location>, owner: String) -> Setting<
        KeyID
    > {
        let written = section.value("key_id") { text throws(Mistake) in try Plain.keyID(text) }
        guard let place = location.placed else { return written }
        var named: KeyID?
        if case .file(let path) = place.value { named = KeyID(fileName: path.name) }
        switch written {
        case .given(let keyID):
            if let named, named != keyID.value {
                complaints.warning(
                    at: keyID.position,
                    "key id \(keyID.value) is not the one in the file's name, \(named); write the one that Apple shows for this key"
                )
            }
            return written
        case .wrong: return .wrong
        case .absent:
            if let named { return .given(Placed(named, place.position)) }
            complaints.error(
                at: section.position,
                "\(owner) has no \"key_id\"; write it, or call the file AuthKey_<KEYID>.p8 as Apple does")
            return .wrong
        }
    }

    private func location(
        in section: Section, file: String, credential: String, secret: Bool
    ) -> Setting<KeyConfiguration.Location> {
        let path = section.value(file) { text throws(Mistake) in
            KeyConfiguration.Location.file(try Plain.path(text, secret: secret))
        }
        let name = section.value(credential) { text throws(Mistake) in
            // The value may be the passphrase itself.
            guard !secret || (try? Plain.credential(text)) != nil else {
                throw Mistake("the value is not a credential's name; write the name that LoadCredential= gives it")
            }
            return KeyConfiguration.Location.credential(try Plain.credential(text))
        }
        if section.has(file) && section.has(credential) {
            let second = max(section.position(of: file), section.position(of: credential))
            complaints.error(at: second, "\"\(file)\" and \"\(credential)\" exclude each other; keep one")
            return .wrong
        }
        return path.or(name)
    }
}
