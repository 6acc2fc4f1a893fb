import AppleClientSecret
import Rotation

/// Reads one entry of `clients`, and `defaults`.
struct ClientReader {
    static let shared = ["key", "lifetime", "renew_before", "outputs", "on_change", "verify", "credential"]
    static let credentialNames = ["unit", "name"]

    let complaints: Diagnostics

    /// Nil when its name is invalid or its value no mapping; mistakes in its settings are reported all the same.
    func client(_ entry: YAMLEntry) -> ClientDraft? {
        let name = ClientName(entry.key)
        if name == nil { complaints.error(at: entry.keyPosition, Plain.badName(entry.key)) }
        let owner = name.map { "client \"\($0)\"" } ?? "this client"
        var settings = ClientSettings()
        // All settings can come from "defaults", so the name alone may be enough.
        if case .scalar("") = entry.value.content {
        } else {
            guard
                let section = Section(
                    entry.value, of: owner, at: entry.keyPosition, names: ["client_id"] + Self.shared,
                    complaints: complaints)
            else { return nil }
            settings = read(section)
            settings.clientID = section.value("client_id") { text throws(Mistake) in try Plain.clientID(text) }
        }
        return name.map { ClientDraft(name: Placed($0, entry.keyPosition), settings: settings) }
    }

    func defaults(_ node: YAMLNode, at position: Position) -> ClientSettings {
        guard
            let section = Section(
                node, of: "\"defaults\"", at: position, names: Self.shared + ["client_id"], complaints: complaints)
        else { return ClientSettings() }
        if section.has("client_id") {
            complaints.error(
                at: section.position(of: "client_id"), "\"client_id\" belongs to one client; write it under that client"
            )
        }
        return read(section)
    }

    private func read(_ section: Section) -> ClientSettings {
        var settings = ClientSettings()
        settings.key = section.value("key") { text throws(Mistake) in try Plain.keyName(text) }
        settings.lifetime = section.value("lifetime") { text throws(Mistake) in try Span.readLifetime(text) }
        settings.renewBefore = section.value("renew_before") { text throws(Mistake) in try Span.readRenewBefore(text) }
        settings.outputs = section.list("outputs", OutputReader(complaints: complaints).read)
        settings.onChange = section.list(
            "on_change", ActionReader(complaints: complaints, placeholder: false).read)
        settings.verify = section.value("verify") { text throws(Mistake) in try Plain.truth(text) }
        settings.credential = credential(in: section)
        return settings
    }

    /// In bytes: systemd puts both names into the address from which it asks, which has room for 83 bytes of them (108
    /// bytes of `sockaddr_un.sun_path` less the rest).
    static let longestServedName = 83

    private func credential(in section: Section) -> Setting<ServedCredential> {
        guard let (node, position) = section.node("credential") else { return section.missing("credential") }
        if case .scalar(let text) = node.content, !text.isEmpty {
            complaints.error(
                at: node.position,
                "\"credential\" needs a unit and a name; write {unit: myapp.service, name: apple-client-secret}")
            return .wrong
        }
        guard
            let inner = Section(
                node, of: "\"credential\"", at: position, names: Self.credentialNames, complaints: complaints)
        else { return .wrong }
        let unit = inner.value("unit") { text throws(Mistake) in try UnitName.read(text, template: true) }
        let name = inner.value("name") { text throws(Mistake) in try Plain.credential(text) }
        for (setting, missing) in [("unit", unit.isAbsent), ("name", name.isAbsent)] where missing {
            complaints.error(
                at: position,
                "\"credential\" has no \"\(setting)\"; write {unit: myapp.service, name: apple-client-secret}")
        }
        guard let unit = unit.value, let name = name.placed else { return .wrong }
        // An instance's name is at least a byte longer than its template's.
        let length = unit.utf8.count + (UnitName.isTemplate(unit) ? 1 : 0) + name.value.utf8.count
        if length > Self.longestServedName {
            complaints.warning(
                at: name.position,
                "unit and name have \(length) bytes together, and systemd can ask for \(Self.longestServedName): the unit "
                    + "will not start; write a shorter name")
        }
        return .given(Placed(ServedCredential(unit: unit, name: name.value), position))
    }
}
