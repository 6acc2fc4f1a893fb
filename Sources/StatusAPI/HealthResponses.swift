import AppleClientSecret
import Model
import NIOHTTP1

extension Router {
    /// `/healthz`: the state and its reason; 503 if the state is `critical`.
    func health(_ snapshot: Snapshot, _ texts: [String]) -> HTTPResponse {
        let line = [snapshot.health.rawValue, snapshot.reason?.sentence].compactMap(\.self).joined(separator: ": ")
        return .text(snapshot.health == .critical ? .serviceUnavailable : .ok, line)
    }

    /// `/readyz`.
    func readiness(_ snapshot: Snapshot, _ texts: [String]) -> HTTPResponse {
        snapshot.ready ? .text(.ok, "ready") : .text(.serviceUnavailable, "not ready")
    }
}
