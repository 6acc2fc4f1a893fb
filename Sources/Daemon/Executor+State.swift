import AppleClientSecret
import Failures
import Keys
import Linux
import Model
import Outputs
import State

/// What is kept in the state directory.
extension Executor {
    func recall(_ client: ClientName, publishedAt places: Set<OutputPlace>) throws(Failure) -> Outcome {
        do throws(Failure) {
            return remember(try state.get().recall(client, publishedAt: places))
        } catch {
            // The record was set aside: a retry finds nothing, and what is lost can be read from the outputs.
            guard error.code == .stateDamaged || error.code == .stateNewer else { throw error }
            log.note(.recordSetAside(client, error))
            return .recalled(Record())
        }
    }

    /// Caches a record's secrets and public keys.
    func remember(_ record: KeptRecord?) -> Outcome {
        guard let record else { return .recalled(Record()) }
        for kept in [record.current, record.candidate].compactMap({ $0 }) {
            if let spki = kept.signerKey { keyring.remember(spki: spki) }
            secretCache.put(kept.secret)
        }
        services.pusher.recall(record.record.pushed.keys)
        return .recalled(record.record)
    }

    func keep(_ record: Record, of client: ClientName) throws(Failure) -> Outcome {
        let state = try state.get()
        try state.keep(
            KeptRecord(record, current: try recorded(record.current), candidate: try recorded(record.candidate)),
            of: client)
        return .kept(record)
    }

    private func recorded(_ issued: SecretInfo?) throws(Failure) -> RecordedSecret? {
        guard let issued else { return nil }
        return RecordedSecret(
            Secret(token: try secret(issued).token, issued: issued),
            signerKey: issued.signer.flatMap(keyring.publicKey)?.spki)
    }

    /// Keeps what was seen of the clock, on a worker.
    func keep(_ run: ClockRun) {
        clockToKeep.put(run)
        try? pool.run(in: .state) { [state, clockToKeep] in clockToKeep.take { try? state.get().keep($0) } }
    }

    func recallReportedStates() throws(Failure) -> Outcome {
        do throws(Failure) {
            return .recalledReportedStates(try state.get().recallReportedStates() ?? ReportedStates())
        } catch {
            guard error.code == .stateDamaged || error.code == .stateNewer else { throw error }
            log.note(.recordSetAside(nil, error))
            return .recalledReportedStates(ReportedStates())
        }
    }

    func keep(_ states: ReportedStates) throws(Failure) -> Outcome {
        try state.get().keep(states)
        return .keptReportedStates(states)
    }

    func tidy(
        _ clients: Set<ClientName>, _ moment: WallTime, _ removed: Set<OutputPlace>, _ outputs: Set<OutputPlace>
    ) -> Outcome {
        // Where there is no state directory there is nothing to tidy.
        (try? state.get())?.tidy(keeping: clients, expiredBefore: moment)
        return .tidied(orphans(among: removed, excluding: outputs))
    }
}
