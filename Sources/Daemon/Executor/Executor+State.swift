import AppleClientSecret
import Failures
import Keys
import Linux
import Model
import Outputs
import State

/// The data in the state directory.
extension Executor {
    func recall(_ client: ClientName, publishedAt places: Set<OutputPlace>) throws(Failure) -> Outcome {
        remember(
            try unlessSetAside(client) { state throws(Failure) in try state.recall(client, publishedAt: places) })
    }

    func recallReportedStates() throws(Failure) -> Outcome {
        let states = try unlessSetAside(nil) { state throws(Failure) in try state.recallReportedStates() }
        return .recalledReportedStates(states ?? ReportedStates())
    }

    /// The value in the state directory. Nil also for an unusable record, which was set aside: a retry would find nothing, and
    /// the outputs still hold the lost data.
    private func unlessSetAside<Value>(
        _ client: ClientName?, _ read: (StateDirectory) throws(Failure) -> Value?
    ) throws(Failure) -> Value? {
        do throws(Failure) {
            return try read(try state.get())
        } catch {
            guard error.code == .stateDamaged || error.code == .stateNewer else { throw error }
            log.note(.recordSetAside(client, error))
            return nil
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

    /// Keeps the observations of the clock, on a worker.
    func keep(_ run: ClockRun) {
        clockToKeep.put(run)
        try? pool.run(in: .state) { [state, clockToKeep] in clockToKeep.take { try? state.get().keep($0) } }
    }

    func keep(_ states: ReportedStates) throws(Failure) -> Outcome {
        try state.get().keep(states)
        return .keptReportedStates(states)
    }

    func tidy(
        _ clients: Set<ClientName>, _ moment: WallTime, _ removed: Set<OutputPlace>, _ outputs: Set<OutputPlace>
    ) -> Outcome {
        // Without a state directory there is nothing to tidy.
        (try? state.get())?.tidy(keeping: clients, expiredBefore: moment)
        return .tidied(orphans(among: removed, excluding: outputs))
    }
}
