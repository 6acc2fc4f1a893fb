internal import Failures
import Model

extension Failure {
    /// - Parameter failed: why actions failed when they last ran.
    static func notDelivered(_ client: ClientName, failed: [ActionID: String], of actions: [ActionID]) -> Failure {
        Failure(.notDelivered, at: .client(client), detail: actions.lazy.compactMap { failed[$0] }.first)
    }

    /// The failure of a secret that has expired or soon will, if applications hold only that one until an action has run.
    ///
    /// - Parameter reason: why an action failed.
    func untilDelivered(_ reason: String? = nil) -> Failure {
        let verb = code == .secretExpired ? "expired" : "expires"
        let words = "applications may still have a secret that \(verb) at \(detail ?? "")"
        return Failure(.notDelivered, at: place, detail: reason ?? words)
    }

    /// - Parameter places: the places that lack the client's secret.
    static func notPublished(_ client: ClientName, missingFrom places: [Place]) -> Failure {
        let words = listed(places.map(\.description), atMost: 3)
        return Failure(.notPublished, at: .client(client), detail: words.isEmpty ? nil : words)
    }
}
