internal import Failures
package import Rotation

extension Reason {
    /// The reason on one line, the same in the status document, `/healthz` and systemd's status text: whom it harms,
    /// what happened, since when, when it is tried again, and what helps.
    ///
    /// Times are absolute, so that the line stays true however long ago it was made.
    package var sentence: String {
        var parts = [message, "since \(since)"]
        if let nextAttempt { parts.append("next attempt \(nextAttempt)") }
        if let remedy = failure.remedy { parts.append(remedy.description) }
        return parts.joined(separator: "; ")
    }

    /// What happened, to whom.
    var message: String { subject + failure.message }

    /// The client, where the message does not name it itself.
    private var subject: String {
        guard let client, failure.place != .client(client) else { return "" }
        return "client \"\(client)\": "
    }
}
