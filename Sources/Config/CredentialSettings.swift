import AppleClientSecret
import Rotation

/// Finds actions and credentials that repeat or contradict each other.
struct ActionChecks {
    let clients: [ClientDraft]
    let onStateChange: Setting<[Placed<Action>?]>
    let complaints: Diagnostics

    func run() {
        checkServed()
        var timeouts: [ActionID: Placed<Seconds>] = [:]
        for list in clients.map(\.settings.onChange) + [onStateChange] {
            for action in withoutRepeated(list) {
                guard case .exec(_, let timeout) = action.value else { continue }
                guard let first = timeouts[action.value.id] else {
                    timeouts[action.value.id] = Placed(timeout, action.position)
                    continue
                }
                guard first.value != timeout else { continue }
                complaints.error(
                    at: action.position,
                    "the same command has a timeout of \(Span.text(first.value)) at \(first.position.seen(from: action.position)) "
                        + "and of \(Span.text(timeout)) here, and runs once for both; write the same in both")
            }
        }
    }

    private func withoutRepeated(_ list: Setting<[Placed<Action>?]>) -> [Placed<Action>] {
        var first: [ActionID: Position] = [:]
        var kept: [Placed<Action>] = []
        for action in list.value?.compactMap({ $0 }) ?? [] {
            if let position = first[action.value.id] {
                complaints.error(
                    at: action.position,
                    "the same action stands at \(position.seen(from: action.position)) already; remove one")
            } else {
                first[action.value.id] = action.position
                kept.append(action)
            }
        }
        return kept
    }

    private func checkServed() {
        var served: [ServedCredential: ClientDraft] = [:]
        var units: [String: Position] = [:]
        for client in clients {
            guard let credential = client.settings.credential.placed else { continue }
            let position = credential.position
            if let first = served[credential.value] {
                complaints.error(
                    at: position,
                    "\(credential.value.unit) gets \(quoted(credential.value.name)) from client \"\(first.name.value)\" already "
                        + "(\(first.name.position.seen(from: client.name.position))); write another name")
            }
            served[credential.value] = served[credential.value] ?? client
            units[credential.value.unit] = units[credential.value.unit] ?? position
        }
        for client in clients {
            for action in client.settings.onChange.value ?? [] {
                guard let action, case .unit(let verb, let unit) = action.value,
                    verb == .reload || verb == .reloadOrRestart,
                    let place = units[unit] ?? UnitName.template(of: unit).flatMap({ units[$0] })
                else { continue }
                complaints.warning(
                    at: action.position,
                    "\(unit) reads a credential (\(place.seen(from: action.position))), which it does when it starts and "
                        + "not when it reloads; write \"restart: \(unit)\"")
            }
            checkIsRestarted(client)
        }
    }

    /// A unit that no action restarts keeps the secret that it read at its start.
    private func checkIsRestarted(_ client: ClientDraft) {
        guard let credential = client.settings.credential.placed else { return }
        if case .wrong = client.settings.onChange { return }
        let served = credential.value.unit
        for action in client.settings.onChange.value ?? [] {
            switch action?.value {
            case .unit(.start, _), .exec, nil:
                // It may restart the unit by its own means.
                return
            case .unit(_, let unit):
                // Restarting a target restarts its PartOf= units. A reload was warned of above.
                if unit == served || UnitName.template(of: unit) == served || unit.hasSuffix(".target") { return }
            case .signal: continue
            }
        }
        complaints.warning(
            at: credential.position,
            "nothing restarts \(served) when the secret changes, and it reads a credential only when it starts; write "
                + "\"- restart: \(UnitName.isTemplate(served) ? UnitName.instance(of: served) : served)\" under \"on_change\""
        )
    }
}
