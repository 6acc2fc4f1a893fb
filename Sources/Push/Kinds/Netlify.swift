import AppleClientSecret
import Failures

extension PushKind {
    /// A variable's value in one deploy context. It acts with the next deploy only, and a variable that is marked as secret is
    /// never shown again.
    static let netlify = PushKind(
        name: "netlify",
        settings: [
            PushSetting(name: "account", advice: "the team's id, or its name in Netlify's addresses"),
            PushSetting(name: "site", advice: "the site's id, which Netlify shows as Project ID"),
            PushSetting(name: "variable", advice: "the environment variable's name"),
            PushSetting(
                name: "context", standard: "production", advice: "a deploy context",
                // Netlify hides no value in the others.
                choices: ["production", "deploy-preview", "branch-deploy"]),
        ], endpoint: "https://api.netlify.com", authorization: .bearer,
        // The variable's values in other contexts and its scopes stay.
        write: PushRequest(
            "PATCH", variable.path, query: variable.query,
            body: .json(#"{"context":{{context}},"value":{{client_secret}}}"#), done: [200, 201],
            confirmed: [AnswerShape(at: ["key"], is: [.text], equals: "{{variable}}")]),
        read: variable, shape: [AnswerShape(at: ["key"], is: [.text]), AnswerShape(at: ["values"], is: [.array])],
        shown: shownByNetlify,
        creation: Creation(
            // A secret may not be in the scope that is left out here, in which pages show it.
            request: PushRequest(
                "POST", "/api/v1/accounts/{{account}}/env", query: variable.query,
                body: .json(
                    #"[{"key":{{variable}},"is_secret":true,"scopes":["builds","functions","runtime"],"#
                        + #""values":[{"context":{{context}},"value":{{client_secret}}}]}]"#),
                done: [200, 201], isList: true,
                confirmed: [AnswerShape(at: ["key"], is: [.text], equals: "{{variable}}")]),
            confirmation: site,
            // Netlify also finds a site by its domain here.
            confirmed: [
                AnswerShape(
                    at: ["id"], is: [.text], equals: "{{site}}", otherwise: "\"site\" has to be that id",
                    meaning: .pushPlaceMissing)
            ],
            doubt: "the site exists"),
        redeployment: Redeployment(
            project: ["account", "site"], environments: "context", production: site,
            serving: { site in
                let published = site?["published_deploy"]
                return published?["id"]?.text.map {
                    ServingDeployment(id: $0, began: PushExchange.momentAtNetlify(published?["created_at"]))
                }
            },
            changed: { exchange throws(RoleFailure) in try exchange.changeAtNetlify(of: variable) },
            // The newest come first.
            list: PushRequest(
                "GET", "/api/v1/sites/{{site}}/deploys",
                query: [.init("production", "true"), .init("per_page", "20")], isList: true),
            one: PushRequest("GET", "/api/v1/sites/{{site}}/deploys/{{deployment}}"),
            read: PushExchange.deployAtNetlify,
            // Builds the production branch and deploys it.
            beginning: { _, _ in
                PushRequest("POST", "/api/v1/sites/{{site}}/builds", body: .json("{}"), done: [200, 201])
            }, id: "deploy_id"))

    private static let site = PushRequest("GET", "/api/v1/sites/{{site}}")

    private static let variable = PushRequest(
        "GET", "/api/v1/accounts/{{account}}/env/{{variable}}", query: [.init("site_id", "{{site}}")])

    @Sendable private static func shownByNetlify(_ exchange: inout PushExchange, _ answer: HTTPAnswer) -> ShownSecret {
        let variable = exchange.json(answer)
        func value(of context: String?) -> JSONValue? {
            variable?["values"]?.elements?.first { $0["context"]?.text == context }
        }
        // Netlify says neither which one a deploy gets if its context has a value too (its own programs take the first in the
        // list), nor whether the others keep their value when one context gets its own.
        guard value(of: "all") == nil else {
            return .unwritable(
                .another(.something),
                RoleFailure(.pushEnvironmentsConflict, "it has one value for all deploy contexts"))
        }
        guard let value = value(of: exchange.values["context"]) else { return .empty }
        // The values of a secret are masked.
        return variable?["is_secret"] == .bool(true)
            ? ShownSecret.hidden.guarding(value["value"]?.text)
            : ShownSecret(value["value"], expected: exchange.secretText)
    }
}

extension PushExchange {
    /// As ``lastChange(_:orThrow:)``.
    fileprivate mutating func changeAtNetlify(of variable: PushRequest) throws(RoleFailure) -> Int64? {
        let found: HTTPAnswer
        do throws(RoleFailure) {
            found = try answer(to: variable)
        } catch {
            guard error.code == .pushPlaceMissing else { throw error }
            return try lastChange(nil, orThrow: error)
        }
        guard let shown = Self.momentAtNetlify(json(found)?["updated_at"]) else {
            throw RoleFailure(.pushAnswerUnexpected, "the variable has no time of last change")
        }
        return try lastChange(shown, orThrow: RoleFailure(.pushPlaceMissing))
    }

    /// A deploy as a list shows it, or the API by itself.
    @Sendable fileprivate static func deployAtNetlify(_ entry: JSONValue) throws(RoleFailure) -> Deployment {
        guard let began = momentAtNetlify(entry["created_at"]), let state = entry["state"]?.text else {
            throw RoleFailure(.pushAnswerUnexpected, "a deploy has no state or no start time")
        }
        let id = entry["id"]?.text
        switch state {
        case "ready":
            // If auto publishing is stopped, it waits for a person.
            guard momentAtNetlify(entry["published_at"]) == nil else {
                return Deployment(.running, state, id: id, began: began)
            }
            return Deployment(.going, "ready but not published", id: id, began: began)
        case "error", "rejected":
            let words = [state, entry["error_message"]?.text].compactMap(\.self).joined(separator: ": ")
            return Deployment(entry["skipped"] == .bool(true) ? .cancelled : .failed, words, id: id, began: began)
        default: return Deployment(.going, state, id: id, began: began)
        }
    }

    /// A moment as Netlify writes it, `2026-11-21T04:31:00.123Z`, since the epoch.
    fileprivate static func momentAtNetlify(_ value: JSONValue?) -> Int64? {
        // WallTime's text for other years has no such form, and milliseconds of these may be too many.
        guard let text = value?.text, !text.hasPrefix("@") else { return nil }
        let parts = text.split(separator: ".", maxSplits: 1)
        guard parts.count == 2, parts[1].last == "Z" else {
            return WallTime(rfc3339: text).map { $0.secondsSinceEpoch * 1000 }
        }
        let fraction = Int64((parts[1].dropLast() + "000").prefix(3))
        guard let moment = WallTime(rfc3339: parts[0] + "Z"), let fraction, fraction >= 0 else { return nil }
        return moment.secondsSinceEpoch * 1000 + fraction
    }
}
