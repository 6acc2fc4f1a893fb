package import AppleClientSecret
package import Model

/// The progress of a new secret's deliveries in a fleet, as the store has it:
/// `{"v":1,"fingerprint":"sha256:…","signed":"sha256:…","admitted":"00000000ffffffff","state":"going","tolerated":0}`.
///
/// The rules are:
/// - A version other than 1, a name that occurs twice, or a member of another form makes it no rollout. Further names are left
///   to later versions.
/// - Earlier versions know neither `signed` nor `ordered`, and name the secret by its fingerprint only.
extension Rollout: JSONDocument {
    /// A rank in 16 hexadecimal digits: a reader of JSON may keep a number of 64 bits only roughly.
    private struct Rank: JSONString {
        let number: UInt64

        var jsonString: String { Hex.encode(number) }

        init(_ number: UInt64) {
            self.number = number
        }

        init?(jsonString text: String) {
            guard let number: UInt64 = Hex.decode(text.utf8) else { return nil }
            self.number = number
        }
    }

    private static let mostTolerated = 1_000_000_000

    package init(_ rollout: Rollout?, _ members: inout JSONMembers) throws(JSONError) {
        try members.constant("v", 1)
        let fingerprint = try members("fingerprint", rollout?.secret.fingerprint)
        let signed = try members.orAbsent("signed", rollout?.secret.signed)
        let admitted = try members("admitted", (rollout?.admitted).map(Rank.init)).number
        let state = try members("state", rollout?.state)
        let tolerated = try members.orAbsent("tolerated", rollout?.tolerated) ?? 0
        guard (0...Self.mostTolerated).contains(tolerated) else {
            throw .unexpected("expected a count", at: "tolerated")
        }
        self.init(
            of: SecretName(fingerprint, signed: signed), admitted: admitted, state: state, tolerated: tolerated,
            isOrdered: try members.flag("ordered", rollout?.isOrdered))
    }
}

extension Rollout.State: JSONString {}
