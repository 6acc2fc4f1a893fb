import AppleClientSecret
import Digest
import Failures

extension PushKind {
    /// The Management API. It shows only a secret's digest.
    static let supabase = PushKind(
        name: "supabase",
        settings: [PushSetting(name: "project", advice: "the project's reference, twenty letters in its address")],
        endpoint: "https://api.supabase.com", authorization: .bearer,
        write: PushRequest(
            "PATCH", "/v1/projects/{{project}}/config/auth",
            body: .json(#"{"external_apple_secret":{{client_secret}}}"#)),
        read: PushRequest("GET", "/v1/projects/{{project}}/config/auth"),
        shape: [AnswerShape(at: ["external_apple_secret"], is: [.text, .null])],
        inUse: [AnswerShape(at: ["external_apple_enabled"], is: [.truth, .null, .absent], equals: "true")],
        // Lists with commas: native apps sign in with ids of their own. Supabase uses the secret with the first id only.
        clientID: { _, answer in
            let names = ["external_apple_client_id", "external_apple_additional_client_ids"]
            let ids = names.compactMap { answer[$0]?.text }.joined(separator: ",").split(separator: ",")
            return ids.map { String($0.trimming(while: \.isWhitespace)) }.first { !$0.isEmpty }
        },
        shown: shownBySupabase)

    /// HMAC-SHA-256 with the project as its key, in hexadecimal. Another digest proves nothing: its computation is
    /// undocumented.
    @Sendable private static func shownBySupabase(_ exchange: inout PushExchange, _ answer: HTTPAnswer) -> ShownSecret {
        guard let shown = exchange.json(answer)?["external_apple_secret"]?.text else { return .empty }
        if shown == exchange.secretText { return .same }
        let digest = HMAC.hexadecimal(
            Array(exchange.secretText.utf8), key: Array(exchange.values["project", default: ""].utf8))
        if shown.lowercased() == digest { return .same }
        guard shown.isEmpty || CompactJWS.seemsToBegin(shown.utf8) else {
            return ShownSecret.digest(shown).guarding(shown)
        }
        return ShownSecret(shown, expected: exchange.secretText)
    }
}
