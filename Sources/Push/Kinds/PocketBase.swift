import AppleClientSecret
import Failures

extension PushKind {
    /// Secrets of providers are shown as blanks, also to superusers; one that is sent as a blank is kept.
    static let pocketbase = PushKind(
        name: "pocketbase",
        settings: [
            PushSetting(name: "user", advice: "a superuser's address; the token is the password", isLogin: true),
            PushSetting(name: "collection", standard: "users", advice: "an auth collection"),
            PushSetting(name: "provider", standard: "apple", advice: "the provider's name"),
        ], endpoint: nil,
        authorization: .login(
            PushRequest(
                "POST", "/api/collections/_superusers/auth-with-password",
                body: .json(#"{"identity":{{user}},"password":{{token}}}"#)),
            token: ["token"]),
        merge: { exchange, found throws(RoleFailure) in try exchange.mergeProvider(found.answer) },
        write: PushRequest(
            "PATCH", "/api/collections/{{collection}}", body: .json(#"{"oauth2":{{merged!}}}"#),
            confirmed: [AnswerShape(at: ["id"], is: [.text])]),
        read: PushRequest("GET", "/api/collections/{{collection}}"),
        shape: [
            AnswerShape(
                at: ["oauth2"], is: [.object], otherwise: "a collection of type auth is needed",
                meaning: .pushPlaceMissing),
            AnswerShape(at: ["oauth2", "providers"], is: [.array, .null]),
        ],
        inUse: [
            AnswerShape(at: ["oauth2", "enabled"], is: [.truth, .null, .absent], equals: "true"),
            AnswerShape(at: ["authRule"], is: [.text, .absent], otherwise: "the collection lets nobody log in"),
        ],
        clientIDs: { exchange, answer in
            let providers = answer[["oauth2", "providers"]]?.elements ?? []
            let provider = providers.first { $0["name"]?.text == exchange.values["provider"] }
            return [provider?["clientId"]?.text].compactMap(\.self)
        },
        errors: [
            ErrorRule(status: 401, contains: [#""mfaId""#], meaning: .pushSecondFactorWanted),
            // Version 0.40.0 refuses the blanks in place of the other providers' secrets.
            ErrorRule(
                status: 400,
                contains: [
                    #""clientSecret":{"code":"validation_required""#,
                    #""clientSecret": {"code": "validation_required""#,
                ], meaning: .pushOthersBlank),
        ])
}

extension PushExchange {
    /// Sets the settings of all providers, with the secret as that of the one that is named.
    fileprivate mutating func mergeProvider(_ found: HTTPAnswer) throws(RoleFailure) {
        let name = values["provider", default: ""]
        let pointer = ["oauth2"]
        let providers = json(found)?[pointer]?["providers"]?.elements ?? []
        guard let index = providers.firstIndex(where: { $0["name"]?.text == name }),
            let whole = JSONValue.range(of: pointer, in: found.body),
            let place = JSONValue.range(of: pointer + ["providers", String(index)], in: found.body),
            let provider = JSONEdit.setting(
                "clientSecret", to: JSONText.string(secretText).bytes, in: Array(found.body[place]))
        else {
            throw RoleFailure(.pushPlaceMissing, "there is no provider \(Printable.name(name)) in the collection")
        }
        values["merged"] = String(
            decoding: found.body[whole.lowerBound..<place.lowerBound] + provider
                + found.body[place.upperBound..<whole.upperBound], as: UTF8.self)
    }
}
