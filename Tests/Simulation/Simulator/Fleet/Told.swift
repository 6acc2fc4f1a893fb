import AppleClientSecret
import Model
import Rotation

/// What the store has truly told a machine since its start about rollouts, whatever a planted mistake makes of it.
struct Told {
    /// What the last read, or a put since, has found of rollouts.
    private(set) var rollouts: [StorePlace: RolloutObservation] = [:]
    /// The same without what is gone, and without earlier states of what was found later: a restored backup has these.
    private(set) var latest: [StorePlace: RolloutObservation] = [:]
    /// When it was found changed, in milliseconds of the boot clock.
    private(set) var changedAt: [StorePlace: Int64] = [:]
    /// Where there was one at any time.
    private(set) var rolledOut: Set<StorePlace> = []
    /// The machines that report, but for this one; none while that is not known.
    private(set) var members: Set<String> = []

    /// - Parameter record: what the state directory says of the client.
    init(remembering record: Record? = nil) {
        guard let record, record.wasRolledOut, let place = record.current.flatMap(StorePlace.init(of:)) else { return }
        rolledOut = [place]
    }

    mutating func learn(_ job: Job, _ result: Result<Outcome, Failure>, excluding own: String, _ now: Now) {
        switch (job.work, result) {
        case (_, .success(.storeRead(_, let found))):
            for (place, rollout) in found where rollouts[place] != rollout { changedAt[place] = now.boot.milliseconds }
            rollouts = found
            for (place, rollout) in found where latest[place]?.isLater(than: rollout) != true {
                latest[place] = rollout
            }
            for (place, rollout) in found where rollout != .forbidden { rolledOut.insert(place) }
        case (.putRollout(_, let rollout, let place, _, _), .success(.rolloutPut(.done(let revision)))):
            rollouts[place] = .rollout(rollout, revision: revision)
            latest[place] = rollouts[place]
        case (.putRollout(_, _, let place, _, _), .success(.rolloutPut(.found(let found, _)))):
            rollouts[place] = found
            if let found, latest[place]?.isLater(than: found) != true { latest[place] = found }
        case (_, .success(.reportsRead(let found))):
            members = Set(found.filter { $0.value.report?.clients[FleetScenario.identity] != nil }.keys)
            members.remove(own)
        case (.readReports, .failure): members = []
        case (.forgetReport(let machine, _), .success): members.remove(machine)
        default: break
        }
    }

    /// Whether a machine may deliver a secret, as far as it was told; nil where that was said by nothing.
    func admits(_ rank: UInt64, to secret: Fingerprint, at place: StorePlace) -> Bool? {
        if let rollout = rollouts[place]?.known, rollout.secret.fingerprint == secret {
            return rank <= rollout.admitted
        }
        return rolledOut.contains(place) ? false : nil
    }
}

extension RolloutObservation {
    /// The rollout that is there; nil for anything else.
    var known: Rollout? {
        if case .rollout(let rollout, _) = self { rollout } else { nil }
    }

    /// Whether a place held it after something else that it is found to hold, by the revisions of etcd.
    func isLater(than found: RolloutObservation) -> Bool {
        guard case .rollout(let own, let revision) = self else { return false }
        guard case .rollout(let other, let earlier) = found else { return true }
        return own.secret.isSame(as: other.secret) && own != other && earlier < revision
    }
}
