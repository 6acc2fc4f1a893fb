import AppleClientSecret
import Failures
import Glibc
import Linux
import Model
import StatusAPI

extension StatusClient {
    /// In microseconds.
    private static let pause: UInt32 = 500_000
    /// An action may restart a unit, which is observed for five seconds.
    private static let looks = 40

    /// The daemon's view, after at most 20 seconds in which it still writes and notifies for these clients: until then every later
    /// link looks broken. Throws why it does not answer.
    func settledStatus(of names: [ClientName]) throws(StatusClientError) -> Snapshot {
        var look = 1
        while true {
            let snapshot = try status()
            let isPending = snapshot.clients.contains { names.contains($0.name) && $0.isPending }
            if !isPending || look == Self.looks { return snapshot }
            if look == 1 {
                CommandOutput.complain(lines: snapshot.clients.filter { names.contains($0.name) }.waitingWords)
            }
            usleep(Self.pause)
            look += 1
        }
    }
}

extension StatusClient {
    /// In milliseconds: far longer than a writer takes to start, and short for monitoring, which gives ten seconds in all.
    private static let startTimeout: Int64 = 3_000
    private static let startPause: UInt32 = 100_000

    /// The daemon's view, after at most 3 seconds in which it still looks for the first time at what it published before its start.
    /// Until then nothing is known to be wrong. Throws why it does not answer.
    func startedStatus() throws(StatusClientError) -> Snapshot {
        let deadline = Deadline(in: Self.startTimeout)
        var snapshot = try status()
        while snapshot.isStarting(at: .now), !deadline.hasPassed {
            usleep(Self.startPause)
            snapshot = try status()
        }
        return snapshot
    }
}

extension Snapshot {
    /// In seconds. What the daemon has not read by then may be on a disk that does not respond.
    private static let startTime: Int64 = 10

    /// Whether the daemon was just started, and has not read yet what a client's applications have.
    func isStarting(at now: WallTime) -> Bool {
        (-Self.startTime...Self.startTime).contains((now - startedAt).count)
            && clients.contains { $0.reasonReport?.failure?.code == FailureCode.notChecked.rawValue }
    }
}

extension Sequence<ClientView> {
    /// The reason for waiting, by the first pending part.
    var waitingWords: String {
        let actions = filter(\.isPending).flatMap(\.actions).filter { $0.waitsFor == nil }
        guard let action = actions.first(where: { $0.state == .pending })?.action else {
            return "Waiting until the secret is written ..."
        }
        guard let (verb, unit) = action.order, verb == .restart else {
            return "Waiting until this is done: \(action) ..."
        }
        return "Waiting until \(unit) has restarted ..."
    }
}

extension ClientView {
    /// Whether outputs or actions are about to be carried out, and nothing has failed. A part that waits for a turn or a rollout
    /// takes hours, and with the last good configuration no action runs.
    var isPending: Bool {
        guard !needsSource else { return false }
        let restraints: [Failure.Code] = [.configurationRefused, .configurationNotAdopted]
        let isAnyPending =
            outputs.contains { $0.state == .pending }
            || !restraints.contains { $0.rawValue == reasonReport?.failure?.code }
                && actions.contains { $0.state == .pending && $0.waitsFor == nil }
        // An ok state may come with a warning.
        return isAnyPending && outputs.allSatisfy { $0.state == .ok || $0.error == nil }
            && actions.allSatisfy { $0.error == nil }
    }

    /// Whether its source, which the daemon has looked at, has to offer a secret first.
    private var needsSource: Bool {
        current == nil && source.map { $0.state != .current } == true
            && reasonReport?.failure?.code != Failure.Code.notChecked.rawValue
    }
}
