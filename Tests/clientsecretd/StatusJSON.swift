import AppleClientSecret
import Model
import StatusAPI

/// A daemon's documents, as it sends them at 2026-11-21T04:31:00Z.
enum StatusJSON {
    static let now = WallTime(secondsSinceEpoch: 1_795_235_460)

    static func client(
        _ name: String, state: String = "ok", reason: String? = nil, failure: String = "null",
        expires: String = "2026-11-22T04:31:00Z", deliveredExpires: String = "2026-11-21T04:32:00Z",
        isDelivered: Bool = true, outputs: String = "[]", actions: String = "[]"
    ) -> String {
        """
        {"name":"\(name)","client_id":"com.example.\(name)","team_id":"DEF123GHIJ","key_id":"ABC123DEFG",
         "state":"\(state)","reason":\(text(reason)),"failure":\(failure),"issued_at":"2026-11-20T04:30:00Z",
         "expires_at":"\(expires)","delivered_expires_at":"\(deliveredExpires)",
         "renew_at":"2026-11-21T16:31:00Z","fingerprint":"sha256:0123456789abcdef","renewals":3,
         "consecutive_failures":0,"last_error":null,"outputs":\(outputs),"actions":\(actions),
         "delivered":\(isDelivered)}
        """
    }

    static func snapshot(
        _ clients: [String], state: String = "ok", reason: String? = nil, failure: String = "null",
        error: String = "null", problems: [String] = []
    ) throws -> Snapshot {
        let json = """
            {"version":"0.1.0","state":"\(state)","reason":\(text(reason)),"failure":\(failure),
             "problems":[\(problems.map { #"{"reason":"it","failure":\#($0)}"# }.joined(separator: ","))],
             "started_at":"2026-11-21T01:31:00Z",
             "config":{"path":"/etc/c.yaml","loaded_at":"2026-11-21T01:31:00Z","error":\(error)},
             "clients":[\(clients.joined(separator: ","))]}
            """
        return try Snapshot(json: Array(json.utf8))
    }

    private static func text(_ text: String?) -> String { text.map { "\"\($0)\"" } ?? "null" }
}
