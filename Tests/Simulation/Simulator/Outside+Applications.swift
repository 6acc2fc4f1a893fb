import Failures
import Model
import Rotation

/// How applications and operators are notified, and what applications hold.
extension Outside {
    func run(_ action: Action, _ covering: [ClientName: CoveredClient]) -> Result<Outcome, Failure> {
        let failing = broken.actions[action.id]
        let isUnit = if case .exec = action { false } else { true }
        let failed = Failure(isUnit ? .jobFailed : .actionFailed, at: .action(action.id), detail: "exit status 1")
        switch failing {
        case .byHanging:
            meet(.actionHung)
            return .failure(Failure(isUnit ? .jobTimedOut : .actionTimedOut, at: .action(action.id)))
        case .atOnce:
            meet(.actionFailed)
            return .failure(failed)
        case .late, nil: break
        }
        runs += 1
        if covering.count > 1 { meet(.sharedRun) }
        if sabotage != .skipsActions {
            for client in covering.keys { reread(Reader(client: client, action: action.id)) }
        }
        guard failing == nil else {
            meet(.actionFailedLate)
            return .failure(failed)
        }
        return .success(.ran)
    }

    func page(_ id: ActionID) -> Result<Outcome, Failure> {
        pages += 1
        guard broken.actions[id] == nil else {
            meet(.stateChangeFailed)
            return .failure(Failure(.actionFailed, at: .action(id), detail: "exit status 1"))
        }
        meet(.operatorsNotified)
        return .success(.ran)
    }

    /// An application reads the last of its client's outputs, and ignores all but a secret of its own.
    func reread(_ reader: Reader) {
        fetch(reader)
        guard let entry = configuration.clients[reader.client], let output = entry.outputs.last,
            let issued = secret(in: output), issued.client == entry.clientID
        else { return }
        held[reader] = issued
        unheard.insert(reader)
    }

    /// What an application holds, if the daemon can know it.
    func heldKnowingly(_ reader: Reader) -> SecretInfo? {
        unheard.contains(reader) ? nil : held[reader]
    }
}
