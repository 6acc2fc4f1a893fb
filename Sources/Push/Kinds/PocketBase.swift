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
            AnswerShape(at: ["authRule"], is: [.text, .absent], otherwise: "the collection lets no user log in"),
        ],
        clientID: { exchange, answer in exchange.provider(in: answer)?.settings["clientId"]?.text },
        shown: shownByPocketBase,
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

    @Sendable private static func shownByPocketBase(_ exchange: inout PushExchange, _ answer: HTTPAnswer) -> ShownSecret
    {
        if let provider = exchange.json(answer).flatMap(exchange.provider) {
            return ShownSecret.unknown.guarding(provider.settings["clientSecret"]?.text)
        }
        let name = Printable.name(exchange.values["provider", default: ""])
        return .unwritable(.empty, RoleFailure(.pushPlaceMissing, "there is no provider \(name) in the collection"))
    }
}

extension PushExchange {
    /// The provider that is named, and its index; nil if the collection does not have it.
    fileprivate func provider(in collection: JSONValue) -> (index: Int, settings: JSONValue)? {
        let providers = collection[["oauth2", "providers"]]?.elements ?? []
        let index = providers.firstIndex { $0["name"]?.text == values["provider"] }
        return index.map { ($0, providers[$0]) }
    }

    /// Sets the settings of all providers, with the secret as that of the one that is named.
    fileprivate mutating func mergeProvider(_ found: HTTPAnswer) throws(RoleFailure) {
        let pointer = ["oauth2"]
        guard let index = json(found).flatMap(provider)?.index,
            let whole = JSONValue.range(of: pointer, in: found.body),
            let place = JSONValue.range(of: pointer + ["providers", String(index)], in: found.body),
            let provider = JSONEdit.setting(
                "clientSecret", to: JSONText.string(secretText).bytes, in: Array(found.body[place]))
        else { throw RoleFailure(.pushAnswerUnexpected) }
        values["merged"] = String(
            decoding: found.body[whole.lowerBound..<place.lowerBound] + provider
                + found.body[place.upperBound..<whole.upperBound], as: UTF8.self)
    }
}
