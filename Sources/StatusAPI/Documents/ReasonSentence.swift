internal import Failures
package import Model

extension Reason {
    /// The reason on one line, the same in the status document, `/healthz` and systemd's status text. It gives the client, the
    /// problem, since when, the next attempt, and the remedy.
    ///
    /// Times are absolute, so that the line stays true however old it is.
    package var sentence: String {
        var parts = [message, "since \(since)"]
        if let nextAttempt { parts.append("next attempt \(nextAttempt)") }
        if let remedy = failure.remedy { parts.append(remedy.description) }
        return parts.joined(separator: "; ")
    }

    /// The problem, and the client concerned.
    var message: String { subject + failure.message }

    /// The client, if the message does not name it itself.
    private var subject: String {
        guard let client, failure.place != .client(client) else { return "" }
        return "client \"\(client)\": "
    }
}
