import AppleClientSecret
import Model
import Rotation

/// Restarts that no event calls for.
extension Simulator {
    /// Restarts the daemon while all is well: it mints nothing, runs nothing, and repeats no report.
    package func restartInPeace() throws {
        // Not when a renewal is due or begins just then, nor when it is unknown for which secrets actions were run, nor
        // while an output lacks its secret: a restart may settle which one it is.
        guard isAlive else { return }
        if let client = outside.forgottenClient(rotation) {
            throw Violation(.memory, "the state directory does not hold the secret of \(client)")
        }
        guard rotation.isIdle, outside.remembersAll, let due = wake.wall, due > now.wall + 3600,
            rotation.snapshot(at: now).clients.allSatisfy({ client in
                // Nor while a project is being deployed.
                client.outputs.allSatisfy { $0.state == .ok } && client.actions.allSatisfy { $0.state == .ok }
            })
        else { return }
        let before = (outside.mints, outside.runs)
        let pushes = outside.api.pushes
        let pages = outside.pages
        // What was well for only a few seconds is still to be reported, once by each action.
        let news = stateChangeActions.news(since: outside.told)
        // What is nearly due is not replaced, and this is reported, until the clock is known to be right.
        let isVouchedFor = isSynced
        die()
        try run(for: 600)
        guard (outside.mints, outside.runs) == before else {
            throw Violation(.pace, "a restart has minted or run an action")
        }
        guard outside.api.pushes == pushes else {
            throw Violation(.pace, "a restart has pushed what is there")
        }
        guard outside.pages - pages <= news.count || !isVouchedFor else {
            throw Violation(.stateChangeActions, "a restart has reported what is no news")
        }
    }
}
