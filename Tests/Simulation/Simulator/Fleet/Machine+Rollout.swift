import AppleClientSecret
import Failures
import Model
import Rotation

/// What a machine does about rollouts, and what the contract says of it.
extension Machine {
    /// A rollout that a signer wants to put, or has put.
    struct RolloutPut {
        enum Reason {
            /// It was decided by what the machine was told.
            case told(Told)
            /// It has replaced what was there, by a machine that knew this of the place.
            case replaced(RolloutObservation?, knowing: RolloutObservation?)
        }

        let rollout: Rollout
        let place: StorePlace
        let reason: Reason
    }

    /// An action that begins to run for a secret which its application does not hold as far as is known.
    struct Delivery {
        let secret: SecretInfo
        /// Whether this machine may deliver it, as far as it was told; nil where nothing was said.
        let isAdmitted: Bool?
        /// Whether it may deliver it whatever it was told: its application holds it or cannot wait, its daemon does not know what
        /// that holds, the last run of its action failed, or the deadline has passed.
        let needsNoAdmission: Bool
    }

    /// What it does with a secret.
    enum Act {
        case began(Delivery)
        /// Its application has the secret.
        case ended(SecretInfo)
    }

    /// Its rank for a secret.
    func order(of secret: SecretInfo) -> UInt64 { RolloutRank.of(name, secret.fingerprint) }

    /// Whether it may deliver the secret in force, as far as it was told; a signer may.
    var isAdmitted: Bool {
        guard !isSigner, let current, let place = StorePlace(of: current) else { return true }
        return told.admits(order(of: current), to: current.fingerprint, at: place) ?? true
    }

    /// What its applications may hold as far as its daemon can know.
    var heldPossibly: [SecretInfo] {
        let kept = outside.records[FleetScenario.client].map { Array($0.delivered.values) } ?? []
        return kept + [lastRun, outside.held[FleetScenario.reader]].compactMap { $0 }
    }

    /// From when on a machine that is not admitted delivers a secret while its applications hold another one.
    func deadline(of secret: SecretInfo, holding held: SecretInfo) -> WallTime {
        let span = entry.renewBefore(of: held)
        return max(held.expiresAt - span / 2, secret.issuedAt)
            + Seconds(Int64(Double(order(of: secret)) / 0x1p64 * Double(span.count / 20)))
    }

    /// Whether its applications may hold another secret than this one, which is published.
    func mayWait(with secret: SecretInfo) -> Bool {
        guard let board, !isSigner, let place = StorePlace(of: secret) else { return false }
        guard let held = outside.held[FleetScenario.reader] else { return false }
        if now.wall > deadline(of: secret, holding: held) + 300 || isCritical(held) { return false }
        // Who has not seen since its start that the store holds what it received waits: it may be rolled out.
        guard let foundAt = link.found[secret.fingerprint], boot - foundAt > MachineWatch.fiveMinutes else {
            return true
        }
        let isAdmitted = told.admits(order(of: secret), to: secret.fingerprint, at: place)
        guard rollout != nil, isAdmitted != nil else { return false }
        // What it was told a moment ago need not be in the store any more.
        if isAdmitted == true, let toldAt = told.changedAt[place], boot - toldAt < MachineWatch.fiveMinutes {
            return true
        }
        guard let entry = board.rollouts[place], let rollout = entry.value, rollout.secret.isSame(as: secret.name),
            order(of: secret) <= rollout.admitted, link.failureMode == nil, !link.isForbidden
        else { return isAdmitted == false }
        let late: Int64 = link.isDeaf ? 360_000 : 0
        return boot - max(entry.at + late, link.changedAt + 330_000, link.hearsSince) < MachineWatch.fiveMinutes
    }

    /// Whether it says of itself that it fails; a rollout that is held is about others.
    var isReportedAsFailing: Bool {
        guard let view, view.health != .ok else { return false }
        return view.reason?.failure.code != .rolloutHeld
    }

    // MARK: Notes

    func noteDelivery(_ secret: SecretInfo) {
        guard !isSigner, rollout != nil, let place = StorePlace(of: secret) else { return }
        let isAdmitted = told.admits(order(of: secret), to: secret.fingerprint, at: place)
        let held = heldPossibly
        let needsNone =
            held.isEmpty || isUnremembered || max(damagedAt, failedAt) > ranAt
            || held.contains {
                $0 == secret || isCritical($0) || areTimesRefused($0) || now.wall >= deadline(of: secret, holding: $0)
            }
        acts.append(.began(Delivery(secret: secret, isAdmitted: isAdmitted, needsNoAdmission: needsNone)))
    }

    func noteIntent(_ work: Work, _ told: Told) {
        guard case .putRollout(_, let rollout, let place, _, _) = work else { return }
        rolloutPuts.append(RolloutPut(rollout: twisted(rollout), place: place, reason: .told(told)))
    }

    func noteRollout(_ rollout: Rollout, at place: StorePlace, over found: RolloutObservation?) {
        rolloutPuts.append(
            RolloutPut(rollout: rollout, place: place, reason: .replaced(found, knowing: told.latest[place])))
    }

    /// A rollout as it is put, or as a planted mistake has it put.
    func twisted(_ rollout: Rollout) -> Rollout {
        var rollout = rollout
        if mistake == .admitsAllAtOnce, rollout.state == .going { rollout.admitted = .max }
        if mistake == .releasesTheUnknown, rollout.state == .going, told.members.isEmpty {
            rollout.admitted = .max
        }
        return rollout
    }

    func observation(_ entry: Noticeboard.RolloutEntry) -> RolloutObservation {
        entry.value.map { .rollout($0, revision: entry.revision) } ?? .foreign(revision: entry.revision)
    }
}
