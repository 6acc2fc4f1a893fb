import AppleClientSecret
import Daemon
import Failures
import Model
import StatusAPI

/// Whether the units that read the secret run, and are restarted or reloaded after a renewal.
extension ChainFacts {
    var unitLink: ChainLink {
        let ids = client.onChange.map(\.id)
        let problem = problems.first { failure in
            if case .action(let id) = failure.place { return ids.contains(id) }
            return isOfReader(failure)
        }
        if let link = link(.unit, problem) { return link }
        // The daemon may not have read yet that the list is empty now.
        let actions = client.onChange.isEmpty ? [] : view?.actions ?? []
        if let action = actions.first(where: { $0.state == .failed }) {
            return ChainLink(
                .unit, .broken, action.error ?? "\(action.action): it has failed",
                action.remedy ?? .deliver(name.description))
        }
        if let action = actions.first(where: { $0.state == .pending && $0.waitsFor == nil }) {
            return pendingLink(.unit, "\(action.action): it has not run yet")
        }
        if view == nil, let failure = failureOfDelivery {
            return ChainLink(.unit, .broken, failure.message, .deliver(name.description))
        }
        if let unit = units.first(where: { $0.activity == "failed" }) {
            return ChainLink(
                .unit, .broken, "\(unit.name) has failed",
                .say("correct the error that it reports, then start it", see: .status(of: unit.name)))
        }
        for action in actions {
            guard let wait = action.waitsFor else { continue }
            return ChainLink(.unit, view?.health == .ok ? .ok : .warning, "\(action.action): \(wait.words)")
        }
        if let unrestarted { return ChainLink(.unit, .warning, unrestarted) }
        let silence = "systemd does not answer, so it is not known"
        guard areUnitsKnown || !units.isEmpty else {
            return ChainLink(.unit, .unknown, "\(silence) which unit reads the secret")
        }
        guard !units.isEmpty else {
            return client.onChange.isEmpty
                ? ChainLink(
                    .unit, .unknown,
                    "on_change restarts nothing: if the application reads the secret only at its start, "
                        + "write \"restart: UNIT\" there")
                : ChainLink(.unit, .ok, client.onChange.map(\.id.description).joined(separator: ", "))
        }
        guard areUnitsKnown else {
            return ChainLink(
                .unit, .unknown, "\(silence) whether it runs: " + units.map(\.name).joined(separator: ", "))
        }
        return ChainLink(
            .unit, units.contains { $0.activity == nil } ? .unknown : .ok,
            units.map { "\($0.name) is \($0.activity ?? "not known to systemd here")" }.joined(separator: ", "))
    }

    /// That nothing restarts a unit that reads an output when it starts, with the line that does; nil if there is no such unit. The
    /// search for hidden outputs judges those that run. Of a client without an action the others count as well.
    private var unrestarted: String? {
        if let next = hidden.first(where: \.isOfNext) {
            return next.words + (next.remedy.map { "; \($0)" } ?? "")
        }
        guard client.onChange.isEmpty, let unit = units.first(where: { !$0.isConfigured && $0.activity != "active" }),
            let file = unit.variables.values.map(\.path.description).min()
        else { return nil }
        let (words, remedy) = HiddenOutput.unrestarted(unit.name, reading: file)
        return "\(words); \(remedy)"
    }

    /// Whether a unit that reads the secret cannot start, or takes another one, independent of the daemon.
    func isOfReader(_ failure: Failure) -> Bool {
        switch failure.code {
        case .unitCannotStart: client.credential.map { failure.place == .named($0.unit) } == true
        case .credentialSocketUnusable: client.credential != nil
        case .unitMismatch: units.contains { failure.place == .named($0.name) }
        default: false
        }
    }
}
