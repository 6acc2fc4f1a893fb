package import AppleClientSecret

/// How far the actions for a new secret may have gone in a fleet, as it lies in the store:
/// `{"v":1,"fingerprint":"sha256:…","signed":"sha256:…","admitted":"00000000ffffffff","state":"going","tolerated":0}`.
///
/// The rules are:
/// - A value of more than ``StoreValue/longest`` bytes is not read.
/// - A version other than 1, a name that occurs twice, or a member of another form makes it no rollout; further names
///   are left to later versions.
/// - Earlier versions know neither `signed` nor `ordered`, and name the secret by its fingerprint only.
package struct StoredRollout: Hashable, Sendable {
    /// The secret that it is about.
    package let secret: SecretName
    /// The highest rank of a machine whose actions may run.
    package let admitted: UInt64
    package let isHeld: Bool
    /// How many machines may fail without holding it.
    package let tolerated: Int
    /// Whether an operator has ended it.
    package let isOrdered: Bool

    package init(secret: SecretName, admitted: UInt64, isHeld: Bool, tolerated: Int, isOrdered: Bool = false) {
        self.secret = secret
        self.isOrdered = isOrdered
        self.admitted = admitted
        self.isHeld = isHeld
        self.tolerated = tolerated
    }

    var json: JSONText {
        .object(
            [("v", .number(1)), ("fingerprint", .string(secret.fingerprint.description))]
                + (secret.signed.map { [("signed", .string($0.description))] } ?? [])
                + [
                    ("admitted", .string(Hex.encode(admitted))),
                    ("state", .string(isHeld ? "held" : "going")), ("tolerated", .number(tolerated)),
                ] + (isOrdered ? [("ordered", .bool(true))] : []))
    }

    /// Reads ``json``; nil for anything else.
    init?(_ json: JSONValue) {
        guard json["v"]?.whole == 1, let fingerprint = json["fingerprint"]?.text.flatMap({ Fingerprint($0) }),
            let admitted: UInt64 = json["admitted"]?.text.flatMap({ Hex.decode($0.utf8) }),
            let state = json["state"]?.text,
            state == "going" || state == "held"
        else { return nil }
        var tolerated: Int64 = 0
        if let member = json["tolerated"] {
            guard let count = member.whole, (0...1_000_000_000).contains(count) else { return nil }
            tolerated = count
        }
        var signed: Fingerprint?
        if let member = json["signed"] {
            guard let read = member.text.flatMap({ Fingerprint($0) }) else { return nil }
            signed = read
        }
        self.init(
            secret: SecretName(fingerprint, signed: signed), admitted: admitted, isHeld: state == "held",
            tolerated: Int(tolerated), isOrdered: json["ordered"] == .bool(true))
    }

    /// What a key of the store with this value holds.
    static func decode(_ bytes: [UInt8], revision: Int64) -> RolloutFinding {
        guard bytes.count <= StoreValue.longest, let json = try? JSONValue(bytes),
            let rollout = StoredRollout(json)
        else { return .flawed(revision: revision) }
        return .rollout(rollout, revision: revision)
    }
}

/// What the key of a rollout held when it was read; there is no value for a key that does not exist.
package enum RolloutFinding: Hashable, Sendable {
    case rollout(StoredRollout, revision: Int64)
    /// Something else, at this revision.
    case flawed(revision: Int64)
    /// The role of this machine's user does not include the place.
    case forbidden

    /// As it stands in an answer of the store role.
    var json: JSONText {
        switch self {
        case .rollout(let rollout, let revision):
            .object([("state", .string("read")), ("value", rollout.json), ("revision", .number(Int(revision)))])
        case .flawed(let revision): .object([("state", .string("flawed")), ("revision", .number(Int(revision)))])
        case .forbidden: .object([("state", .string("forbidden"))])
        }
    }

    /// Reads ``json``; nil for anything else.
    init?(_ json: JSONValue) {
        switch json["state"]?.text {
        case "forbidden": self = .forbidden
        case "flawed":
            guard let revision = json["revision"]?.whole else { return nil }
            self = .flawed(revision: revision)
        case "read":
            guard let revision = json["revision"]?.whole, let rollout = json["value"].flatMap(StoredRollout.init)
            else { return nil }
            self = .rollout(rollout, revision: revision)
        default: return nil
        }
    }
}
