import AppleAPI
import AppleClientSecret
import Failures
import Model
import Rotation

/// Whether the ids in the configuration are those of the key and of the client at Apple.
extension ChainFacts {
    var idsLink: ChainLink {
        let key = signer ?? key
        let ids = "team \(key.team), key \(key.keyID), " + client.clientID.words
        // A file may have been renamed, which Apple's acceptance shows.
        if !isAccepted, case .file(let path) = key.location, let inName = KeyID(fileName: path.name),
            inName != key.keyID
        {
            return ChainLink(
                .ids, .broken, "key_id is \(key.keyID), but the file is called \(path.name): \(ids)",
                .say("remove key_id, or name the file of that key"))
        }
        if let advice = certain([.team, .client, .form]) {
            let renewal = Remedy.renew(name.description)
            let end = "; \(PublishedSecret.words(renewal))"
            guard advice.hasSuffix(end) else { return ChainLink(.ids, .broken, "\(ids): \(advice)") }
            return ChainLink(.ids, .broken, "\(ids): \(advice.dropLast(end.count))", renewal)
        }
        // Apple's acceptance shows that these ids are the right ones.
        if !isAccepted, let shared = sharedKeys.first(where: { $0.entry == key || $0.other == key }) {
            return ChainLink(.ids, .warning, "\(ids): \(shared.words)")
        }
        return ChainLink(.ids, .ok, ids)
    }

    private var isAccepted: Bool {
        if case .answered(let result) = verdict { result.outcome == .accepted } else { false }
    }
}
