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

    /// What a key of the store with this value holds.
    static func decode(_ bytes: [UInt8], revision: Int64) -> RolloutFinding {
        guard bytes.count <= StoreValue.longest, let rollout = try? StoredRollout(parsing: bytes) else {
            return .flawed(revision: revision)
        }
        return .rollout(rollout, revision: revision)
    }
}

extension StoredRollout: JSONDocument {
    private enum State: String, JSONString {
        case going, held
    }

    /// A rank in 16 hexadecimal digits: a reader of JSON may keep a number of 64 bits only roughly.
    private struct Rank: JSONString {
        let number: UInt64

        init(_ number: UInt64) {
            self.number = number
        }

        var jsonString: String { Hex.encode(number) }

        init?(jsonString text: String) {
            guard let number: UInt64 = Hex.decode(text.utf8) else { return nil }
            self.number = number
        }
    }

    private static let mostTolerated = 1_000_000_000

    package init(_ rollout: StoredRollout?, _ members: inout JSONMembers) throws(JSONFlaw) {
        try members.constant("v", 1)
        let fingerprint = try members("fingerprint", rollout?.secret.fingerprint)
        let signed = try members.orAbsent("signed", rollout?.secret.signed)
        let admitted = try members("admitted", (rollout?.admitted).map(Rank.init)).number
        let state = try members("state", rollout.map { $0.isHeld ? State.held : .going })
        let tolerated = try members.orAbsent("tolerated", rollout?.tolerated) ?? 0
        guard (0...Self.mostTolerated).contains(tolerated) else {
            throw .unexpected("expected a count", at: "tolerated")
        }
        self.init(
            secret: SecretName(fingerprint, signed: signed), admitted: admitted, isHeld: state == .held,
            tolerated: tolerated, isOrdered: try members.flag("ordered", rollout?.isOrdered))
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
            .object([("state", .string("read")), ("value", rollout.jsonText), ("revision", .number(Int(revision)))])
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
            guard let revision = json["revision"]?.whole,
                let rollout = json["value"].flatMap({ try? StoredRollout(jsonValue: $0) })
            else { return nil }
            self = .rollout(rollout, revision: revision)
        default: return nil
        }
    }
}
