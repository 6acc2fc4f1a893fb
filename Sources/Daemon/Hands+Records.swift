import AppleClientSecret
import Publishing
import Rotation
import Signing

extension Hands {
    func recall(_ client: ClientName) throws(Trouble) -> Outcome {
        do throws(Trouble) {
            return remember(try state.get().recall(client))
        } catch {
            // It was set aside: there is nothing left to try again, and nothing is lost but what the outputs know too.
            guard error.code == .stateDamaged || error.code == .stateNewer else { throw error }
            log.warn("\(client): \(error.sentence)")
            return .recalled(Record())
        }
    }

    /// Puts what the state directory held where it can be used.
    func remember(_ record: ClientRecord?) -> Outcome {
        guard let record else { return .recalled(Record()) }
        if let current = record.current {
            if let spki = current.signerKey, let key = PublicKey(spki: spki) { keyring.remember(key) }
            shelf.put(Secret(token: current.token, issued: current.issued))
        }
        return .recalled(record.record)
    }

    func keep(_ record: Record, of client: ClientName) throws(Trouble) -> Outcome {
        let state = try state.get()
        var current: KeptSecret?
        if let issued = record.current {
            guard let secret = shelf.secret(issued.fingerprint) else { throw lost(issued) }
            current = KeptSecret(
                token: secret.token, issued: issued, signerKey: issued.signer.flatMap(keyring.publicKey)?.spki)
        }
        try state.keep(ClientRecord(record, current: current), of: client)
        return .kept(record)
    }

    func recallTold() throws(Trouble) -> Outcome {
        do throws(Trouble) {
            return .recalledTold(try state.get().recallTold() ?? Told())
        } catch {
            guard error.code == .stateDamaged || error.code == .stateNewer else { throw error }
            log.warn(error.sentence)
            return .recalledTold(Told())
        }
    }

    func keep(_ told: Told) throws(Trouble) -> Outcome {
        try state.get().keep(told)
        return .keptTold(told)
    }

    func tidy(_ clients: Set<ClientName>, _ moment: WallTime) -> Outcome {
        // Where there is no state directory there is nothing to tidy.
        (try? state.get())?.tidy(keeping: clients, expiredBefore: moment)
        return .tidied
    }
}
