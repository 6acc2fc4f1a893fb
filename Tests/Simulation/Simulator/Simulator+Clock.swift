import AppleClientSecret
import Model
import Rotation

/// A clock that may be wrong.
extension Simulator {
    /// Fifteen years after the build, from when on no clock is believed that the kernel does not vouch for.
    private static let longestUse: Int64 = 15 * 366 * 86_400

    /// Whether the clock can be right, for all that the daemon can know.
    var isClockPossible: Bool {
        let wall = now.wall.secondsSinceEpoch
        return wall >= Self.builtAt && (isSynced || wall < Self.builtAt + Self.longestUse)
    }

    /// Whether the clock may be ahead, for all that the daemon can know: neither the kernel vouches for it, nor has it run for
    /// ten minutes since the start without being set.
    var mayClockBeAhead: Bool {
        !isSynced && (!isClockPossible || boot - clockSetAt < 600_000)
    }

    /// A secret that is valid in truth is not replaced because such a clock says otherwise.
    func checkClock(_ job: Job) throws {
        guard mayClockBeAhead, case .mint(let name, _, _) = job.work, !watch.forced.contains(name),
            let entry = outside.configuration.clients[name], let key = outside.configuration.keys[entry.key],
            let kept = outside.records[name]?.current,
            rotation.snapshot(at: now).clients.first(where: { $0.name == name })?.current == kept,
            kept.client == entry.clientID, kept.team == key.team, kept.keyID == key.keyID,
            let signer = kept.signer, signer == rotation.digest(of: entry.key)
        else { return }
        let truth = now.wall - Seconds(clocks.error)
        let day = Seconds(86_400)
        guard kept.issuedAt <= truth, truth < kept.expiresAt, kept.issuedAt + day < now.wall else { return }
        throw Violation(.clock, "\(name)'s secret is replaced although it is valid, by a clock that nobody vouches for")
    }
}
