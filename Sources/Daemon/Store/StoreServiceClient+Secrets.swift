import AppleClientSecret
import Failures
import Keys
import Linux
import Model
import Store

/// How secrets and their rollouts are read and put.
extension StoreServiceClient {
    /// The content of these places, and the rollouts that belong to them. Blocks.
    ///
    /// - Parameter issued: the claims of a token; nil for one that is no client secret.
    func read(_ places: [StorePlace], issued: (Token) -> SecretInfo?) throws(Failure) -> Outcome {
        var rollouts: [StorePlace: RolloutObservation] = [:]
        var found: [StorePlace: StoreObservation] = [:]
        let deadline = Deadline(in: service.timeout)
        for start in stride(from: 0, to: places.count, by: StoreRequest.mostKeys / 2) {
            let page = places[start..<min(start + StoreRequest.mostKeys / 2, places.count)]
            // A secret and its rollout next to each other, so that both are read in one transaction.
            let keys = page.flatMap { [StoreKey.secret($0.slot), .rollout($0.slot)] }
            guard case .read(let entries) = try ask(.read(keys), until: deadline), entries.count == keys.count else {
                throw answersAnotherRequest
            }
            for (number, place) in page.enumerated() {
                found[place] = Self.secret(entries[2 * number], issued)
                rollouts[place] = Self.rollout(entries[2 * number + 1])
            }
        }
        return .storeRead(found, rollouts: rollouts)
    }

    /// Puts a token into a place that was last changed at this revision. Blocks.
    func put(
        _ token: Token, at place: StorePlace, ifAt revision: Int64, issued: (Token) -> SecretInfo?
    ) throws(Failure) -> StorePut {
        switch try ask(.put([try Self.put(token, at: place, ifAt: revision)])) {
        case .put(let revision): return .done(revision: revision)
        case .conflict(let entries):
            guard entries.count == 1 else { throw answersAnotherRequest }
            // Another version may have written the same token in other words.
            if case .value(let bytes, let revision) = entries[0],
                let held = StoreValue.decode(bytes), held.name == token.name
            {
                return .done(revision: revision)
            }
            return .conflict(Self.secret(entries[0], issued))
        default: throw answersAnotherRequest
        }
    }

    /// Puts the rollout of the secret in a place, if that was last changed at this revision, and the secret with it. Blocks.
    func put(
        _ rollout: Rollout, at place: StorePlace, ifAt revision: Int64, with secret: (token: Token, revision: Int64)?,
        issued: (Token) -> SecretInfo?
    ) throws(Failure) -> RolloutPut {
        var puts = [StoreRequest.Put(rollout.jsonText.bytes, at: .rollout(place.slot), ifAt: revision)]
        if let secret { puts.append(try Self.put(secret.token, at: place, ifAt: secret.revision)) }
        switch try ask(.put(puts)) {
        case .put(let revision): return .done(revision: revision)
        case .conflict(let entries):
            guard entries.count == puts.count else { throw answersAnotherRequest }
            return .found(
                Self.rollout(entries[0]), secret: secret == nil ? nil : Self.secret(entries[1], issued))
        default: throw answersAnotherRequest
        }
    }

    private static func put(
        _ token: Token, at place: StorePlace, ifAt revision: Int64
    ) throws(Failure) -> StoreRequest.Put {
        guard let value = StoreValue.encode(token) else { throw Failure(.storeSecretTooLong, at: .store) }
        return StoreRequest.Put(value, at: .secret(place.slot), ifAt: revision)
    }

    /// The place of a secret holds this.
    private static func secret(_ entry: StoreEntry, _ issued: (Token) -> SecretInfo?) -> StoreObservation {
        switch entry {
        case .missing: return .missing
        case .forbidden: return .forbidden
        case .tooLong(let revision): return .foreign("it is longer than a secret", revision: revision)
        case .value(let bytes, let revision):
            guard let token = StoreValue.decode(bytes) else {
                return .foreign("clientsecretd did not write it", revision: revision)
            }
            return issued(token).map { .secret($0, revision: revision) }
                ?? .foreign("it \((TokenReader.objection(to: token) ?? .unsigned).words)", revision: revision)
        }
    }

    /// The place of a rollout holds this; nil for none.
    private static func rollout(_ entry: StoreEntry) -> RolloutObservation? {
        switch entry {
        case .missing: return nil
        case .forbidden: return .forbidden
        case .tooLong(let revision): return .foreign(revision: revision)
        case .value(let bytes, let revision):
            return (try? Rollout(parsing: bytes)).map { .rollout($0, revision: revision) }
                ?? .foreign(revision: revision)
        }
    }
}

extension StorePlace {
    fileprivate var slot: StoreSlot { StoreSlot(team: team, client: client, keyDigest: key.description) }
}
