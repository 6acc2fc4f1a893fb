package import AppleClientSecret

/// The place in the store of one client's secrets that one key has signed.
package struct StorePlace: Hashable, Comparable, Sendable {
    package let team: TeamID
    package let client: ClientID
    package let key: KeyDigest

    package init(team: TeamID, client: ClientID, key: KeyDigest) {
        self.team = team
        self.client = client
        self.key = key
    }

    /// The place of a secret; nil if no known key has signed it.
    package init?(of secret: SecretInfo) {
        guard let signer = secret.signer else { return nil }
        self.init(team: secret.team, client: secret.client, key: signer)
    }

    package static func < (left: StorePlace, right: StorePlace) -> Bool {
        (left.team.description, left.client.description, left.key.description)
            < (right.team.description, right.client.description, right.key.description)
    }
}

/// The content of a place of the store when it was read.
package enum StoreObservation: Hashable, Sendable {
    case missing
    /// A client secret, signed by any key, at this revision of etcd's key.
    case secret(SecretInfo, revision: Int64)
    /// Something that is no client secret, as a description without any of its bytes.
    case foreign(String, revision: Int64)
    /// The role of this machine's user does not include the place.
    case forbidden

    /// By which a put is compared: 0 where nothing is; nil if that is not known.
    package var revision: Int64? {
        switch self {
        case .missing: 0
        case .secret(_, let revision), .foreign(_, let revision): revision
        case .forbidden: nil
        }
    }
}

/// The result of a put.
package enum StorePut: Hashable, Sendable {
    /// The place holds the secret now, or held it already, at this revision.
    case done(revision: Int64)
    /// Nothing was put: the place was changed at another revision than expected, and holds this.
    case conflict(StoreObservation)
}

/// A secret that is put into the store in one transaction with its rollout, if its place was last changed at this
/// revision.
package struct SecretPut: Hashable, Sendable {
    package let secret: SecretInfo
    package let revision: Int64

    package init(_ secret: SecretInfo, ifAt revision: Int64) {
        self.secret = secret
        self.revision = revision
    }
}
