import Failures
import Model
import Rotation

/// The end of a run with `--once`: the lines to log, and the exit status. The status follows from the lines, so that no run fails
/// without a reason.
struct SingleRunReport {
    private(set) var lines: [LogLine] = []
    private(set) var status = DaemonExitStatus.done

    /// - Parameters:
    ///   - end: the state at the end.
    ///   - once: the failures of the run.
    ///   - unwritten: why the metrics could not be written; nil if they were, or are not wanted.
    init(_ end: Snapshot, _ once: SingleRunLog, unwritten: Failure?) {
        if let unwritten { fail(.metricsNotWritten(unwritten)) }
        var reasons: [Failure] = []
        for client in end.clients {
            let failure = client.reason?.failure
            let isFailing = failure.map(Self.isFailing) ?? false
            if client.health != .ok {
                let line = LogLine.leftUndone(client.name, client.health, failure)
                if isFailing { fail(line) } else { lines.append(line) }
            }
            if let failure { reasons.append(failure) }
            if !isFailing, !client.delivered, !client.isUndeployed {
                fail(.leftUndone(client.name, client.health, Self.undone(client, end.awaitedRollouts[client.name])))
            }
        }
        lines += once.left(except: reasons).map { $0.event.line(clients: $0.clients) }
        guard let own = end.reason?.failure, Self.isFailing(own) else { return }
        status = .failed
        // A client's, or one that was logged before.
        guard !reasons.contains(own), !once.knows(own) else { return }
        lines.append(LogEvent.faultRaised(own).line())
    }

    private mutating func fail(_ line: LogLine) {
        lines.append(line)
        status = .failed
    }

    /// Whether a failure keeps anything from being brought up to date. A replaced key and a place that is switched off are
    /// reported, but all possible work for the client is done.
    private static func isFailing(_ failure: Failure) -> Bool {
        failure.code != .keyChanged && failure.code != .pushSwitchedOff
    }

    /// The work that is left for a client without a failure.
    private static func undone(_ client: ClientView, _ rollout: AwaitedRollout?) -> Failure {
        let place = Failure.Place.client(client.name)
        let lacking = client.outputs.filter { $0.state != .ok && $0.state != .contested }.map(\.place)
        guard lacking.isEmpty else {
            return Failure(.notPublished, at: place, detail: listed(lacking, atMost: 3))
        }
        guard let action = client.actions.first(where: { $0.waitsFor != nil }), let wait = action.waitsFor else {
            return Failure(.notDelivered, at: place)
        }
        var words = "\(action.action): \(wait.words)"
        if wait == .rollout, let rollout {
            words += ", until \(rollout.deadline) at the latest" + (rollout.isHeld ? ", and the rollout is held" : "")
        }
        return Failure(.notDelivered, at: place, detail: words, remedy: remedy(wait, client.name, rollout))
    }

    private static func remedy(_ wait: ActionView.Wait, _ client: ClientName, _ rollout: AwaitedRollout?) -> Remedy {
        let again = "run \"run --once\" again"
        switch wait {
        case .rollout:
            let orders = rollout?.isHeld == true ? "resume or finish the rollout on a signer" : "wait for the rollout"
            return .say("\(orders), then \(again)", see: ShellCommand.showRollout(client.description))
        case .turn: return .say("\(again) later, or start the daemon")
        case .deployment: return .say("\(again) in a few minutes")
        }
    }
}
