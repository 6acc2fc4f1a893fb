import AppleClientSecret
import Linux
import Model

/// `credential:` of a client: the unit that is served its secret.
enum CredentialSettings {
    static func read(in client: Section) -> Setting<ServedCredential> {
        guard let section = client.unitAnd("name", of: "credential", such: "apple-client-secret") else {
            return client.has("credential") ? .wrong : client.missing("credential")
        }
        let unit = section.value("unit") { text throws(ValueError) in try UnitName.read(text, template: true) }
        let name = section.value("name") { text throws(ValueError) in try Scalar.credential(text) }
        guard let unit = unit.value, let name = name.value else { return .wrong }
        return .given(Located(ServedCredential(unit: unit, name: name), at: section.position))
    }

    /// Finds credentials that two clients have, and units that go on with the one that they have read.
    static func check(_ clients: [WrittenClient], _ diagnostics: Diagnostics) {
        let served = clients.compactMap { client in
            client.settings.credential.located.map { (client: client.name, credential: $0) }
        }
        diagnostics.withoutRepetitions(served, by: \.credential) { other, first, _ in
            let credential = other.credential.value
            let place = first.client.position.seen(from: other.client.position)
            return "\(credential.unit) already gets \(quoted(credential.name)) from client \"\(first.client.value)\" "
                + "(\(place)); write another name"
        }
        let units = Dictionary(served.map { ($0.credential.value.unit, $0.credential.position) }) { first, _ in first }
        for client in clients {
            checkReloads(by: client, of: units, diagnostics)
            checkIsRestarted(client, diagnostics)
        }
    }

    /// - Parameter units: those that read a credential, and the position of its name.
    private static func checkReloads(
        by client: WrittenClient, of units: [String: Position], _ diagnostics: Diagnostics
    ) {
        for action in client.settings.onChange.value ?? [] {
            guard let action, case .unit(let verb, let unit) = action.value,
                verb == .reload || verb == .reloadOrRestart,
                let place = units[unit] ?? UnitTemplate.name(of: unit).flatMap({ units[$0] })
            else { continue }
            diagnostics.warning(
                at: action.position,
                "\(unit) reads a credential (\(place.seen(from: action.position))), but only when it starts, "
                    + "not when it reloads; write \"restart: \(unit)\"")
        }
    }

    /// A unit that no action restarts keeps the secret that it read at its start.
    private static func checkIsRestarted(_ client: WrittenClient, _ diagnostics: Diagnostics) {
        guard let credential = client.settings.credential.located else { return }
        if client.settings.onChange.isWrong { return }
        let served = credential.value.unit
        for action in client.settings.onChange.value ?? [] {
            switch action?.value {
            case .unit(.start, _), .exec, nil:
                // It may restart the unit by its own means.
                return
            case .unit(_, let unit):
                // Restarting a target restarts its PartOf= units. A reload was warned of above.
                if unit == served || UnitTemplate.name(of: unit) == served || unit.hasSuffix(".target") { return }
            case .signal, .redeploy: continue
            }
        }
        diagnostics.warning(
            at: credential.position,
            "nothing restarts \(served) when the secret changes, but it reads a credential only when it starts; write "
                + "\"- restart: \(UnitName.isTemplate(served) ? UnitName.instance(of: served) : served)\" under \"on_change\""
        )
    }
}
