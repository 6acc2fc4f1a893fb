package import AppleClientSecret

/// The progress of the deliveries of one secret, by the store. A machine that may write there may have made it up. At worst it
/// holds deliveries until their deadline, or releases them all.
package struct Rollout: Hashable, Sendable {
    /// The secret that it is about.
    package let secret: SecretName
    /// The highest ``RolloutRank`` of a machine that may deliver.
    package var admitted: UInt64
    package var state: State
    /// How many machines may fail without holding it: as many as did when a user resumed it.
    package var tolerated: Int
    /// Whether an operator has ended it: then no machine waits for its turn of `deliver_over` either.
    package var isOrdered: Bool

    package enum State: String, Hashable, Sendable {
        case going
        /// No more machines are admitted until a user decides.
        case held
    }

    package init(
        of secret: SecretName, admitted: UInt64, state: State = .going, tolerated: Int = 0, isOrdered: Bool = false
    ) {
        self.secret = secret
        self.admitted = admitted
        self.state = state
        self.tolerated = tolerated
        self.isOrdered = isOrdered
    }

    /// The rollout that admits all machines.
    package static func finished(_ secret: SecretName) -> Rollout { Rollout(of: secret, admitted: .max) }

    /// The rank of a machine in it. All machines compute it from the name that the rollout has, because some may hold the
    /// secret with another signature.
    package func rank(of machine: String) -> UInt64 { RolloutRank.of(machine, secret.fingerprint) }

    /// Whether a machine of this rank may deliver.
    package func admits(_ rank: UInt64) -> Bool { rank <= admitted }

    /// Whether machines of all ranks may deliver.
    package var admitsAll: Bool { admitted == .max }

    /// Whether all machines are admitted, and nothing is left to be done.
    package var isFinished: Bool { admitsAll && state == .going }
}

/// The content of a rollout's place in the store when it was read; an empty one has no value.
package enum RolloutObservation: Hashable, Sendable {
    /// At this revision of etcd's key.
    case rollout(Rollout, revision: Int64)
    /// Something else: it admits no machine.
    case foreign(revision: Int64)
    /// The role of this machine's user does not include the place.
    case forbidden

    /// By which a put is compared; nil if that is not known.
    package var revision: Int64? {
        switch self {
        case .rollout(_, let revision), .foreign(let revision): revision
        case .forbidden: nil
        }
    }

    package var rollout: Rollout? {
        if case .rollout(let rollout, _) = self { rollout } else { nil }
    }
}

/// The result of putting a rollout.
package enum RolloutPut: Hashable, Sendable {
    /// It is there, and the secret with it, at this revision.
    case done(revision: Int64)
    /// Nothing was put, because a place was changed at another revision than expected. With the content found: nil for no
    /// rollout, and for a secret that was not to be put.
    case found(RolloutObservation?, secret: StoreObservation?)
}

/// A user's order to a rollout.
package enum RolloutOrder: String, Hashable, Sendable, CaseIterable {
    /// Admit no more machines.
    case hold
    /// Go on, in spite of the machines that fail now.
    case resume
    /// Admit all machines at once.
    case finish

    /// Whether a rollout in this state has carried out the order.
    package func isDone(in state: RolloutView.State) -> Bool {
        switch self {
        case .hold: state == .held
        case .resume: state != .held
        case .finish: state == .finished
        }
    }
}
