import AppleClientSecret
import Linux
import Model
import Outputs

/// A writer's permissions: only the files that the configuration, which it reads itself, names for its user. They do not depend
/// on the caller.
struct UserWriterFileRules {
    let configuration: Configuration
    /// The writer's user id.
    let user: UInt32
    /// The id of a user that the configuration names.
    let userID: (String) -> UInt32?

    /// A request that passed all checks.
    struct Order {
        let file: FileSpec
        let secrets: [FileSlot: Secret]
        let naming: TemporaryNames?
    }

    /// Why a request is not carried out, in words for the daemon's status.
    struct Refusal: Error, Hashable, Sendable {
        let words: String

        static func version(_ version: Int) -> Refusal {
            Refusal(words: "the request comes from another version (\(version)) of clientsecretd")
        }
        static let noSuchOutput = Refusal(words: "the configuration names no such output")
        static let anothersOutput = Refusal(words: "the configuration does not name this user for it")
        static let otherForm = Refusal(words: "the configuration gives it another format, mode or group")
        static let noSuchPlace = Refusal(words: "the configuration gives it no such variable, or to another client")
        static let notItsSecret = Refusal(
            words: "the content is not a secret of the client that the configuration names")
        static let nothingToDo = Refusal(words: "the request does not say what to do")
        static let badTag = Refusal(words: "the request does not name its temporary files")
    }

    func order(_ request: WriterRequest) throws(Refusal) -> Order {
        guard request.version == WriterRequest.currentVersion else { throw .version(request.version) }
        guard let path = AbsolutePath(request.path), path.description == request.path,
            let spec = configuration.files[path]
        else { throw .noSuchOutput }
        guard let owner = spec.owner, userID(owner) == user else { throw .anothersOutput }
        guard spec.format.name == request.kind, spec.mode == request.mode, spec.group == request.group else {
            throw .otherForm
        }
        var slots: [FileSlot: ClientName] = [:]
        var secrets: [FileSlot: Secret] = [:]
        for place in request.places {
            let slot = FileSlot(variable: place.variable)
            guard let client = spec.slots[slot], client.description == place.client, slots[slot] == nil else {
                throw .noSuchPlace
            }
            slots[slot] = client
            if let token = place.token { secrets[slot] = try secret(token, of: client) }
        }
        guard !slots.isEmpty, (request.task == .publish) != secrets.isEmpty else { throw .nothingToDo }
        let naming = request.tag.flatMap { TemporaryNames(tag: $0) }
        guard (naming == nil) == (request.tag == nil), naming != nil || request.task != .publish else { throw .badTag }
        return Order(
            file: FileSpec(
                path: path, format: spec.format, mode: spec.mode, group: spec.group, owner: spec.owner, slots: slots),
            secrets: secrets, naming: naming)
    }

    /// The secret, if it states that it is this client's; its signature is not checked. A secret of another key or team is the
    /// client's, too, if Apple is asked first. Such a one stays until Apple has accepted its successor.
    private func secret(_ token: Token, of name: ClientName) throws(Refusal) -> Secret {
        guard let client = configuration.clients[name], let form = token.parsed?.form else { throw .notItsSecret }
        let keys = client.keys.compactMap { configuration.keys[$0] }.map {
            SecretForm.Expectation.Key(team: $0.team, keyID: $0.keyID, signature: .unchecked)
        }
        do throws(Objection) {
            _ = try form.rank(SecretForm.Expectation(client: client.clientID, keys: keys))
        } catch {
            guard client.verify, error.isOfAnotherKey else { throw .notItsSecret }
        }
        return Secret(token: token, issued: SecretInfo(token.name, form: form, signer: nil))
    }
}
