import AppleClientSecret
import Failures

extension PushKind {
    /// A sensitive variable is never shown again, and acts with the next deployment only. One of another type may be shown.
    static let vercel = PushKind(
        name: "vercel",
        settings: [
            PushSetting(name: "project", advice: "the project's name or id"),
            PushSetting(name: "team", standard: "", advice: "the team's id, team_…"),
            PushSetting(name: "variable", advice: "the environment variable's name"),
            PushSetting(
                name: "environments", standard: #"["production"]"#, advice: "a list of environments",
                // Vercel takes no sensitive variable for development.
                choices: ["production", "preview"], isList: true),
        ], endpoint: "https://api.vercel.com", authorization: .bearer,
        // Without a team, a project is one in the account of the token.
        parts: "environments", isOfToken: { $0["team", default: ""].isEmpty },
        write: PushRequest(
            "POST", "/v10/projects/{{project}}/env", query: [.init("upsert", "true"), .init("teamId", "{{team}}")],
            body: .json(
                #"{"key":{{variable}},"value":{{client_secret}},"type":"sensitive","target":{{environments!}}}"#),
            done: [200, 201], confirmed: [AnswerShape(at: ["created", "key"], is: [.text], equals: "{{variable}}")]),
        read: variables, shape: [AnswerShape(at: ["envs"], is: [.array])],
        shown: { exchange, answer throws(RoleFailure) in try exchange.shownByVercel(answer, in: variables) },
        redeployment: Redeployment(
            project: ["team", "project"], environments: "environments",
            production: PushRequest("GET", "/v9/projects/{{project}}", query: [.init("teamId", "{{team}}")]),
            serving: { project in
                let production = project?[["targets", "production"]]
                return production?["id"]?.text.map {
                    ServingDeployment(id: $0, began: Deployment.moment(production?["createdAt"]))
                }
            },
            changed: { exchange throws(RoleFailure) in try exchange.changeAtVercel(of: variables) },
            list: PushRequest(
                "GET", "/v6/deployments",
                query: [
                    .init("projectId", "{{project}}"), .init("target", "production"), .init("since", "{{changed}}"),
                    .init("limit", "100"), .init("teamId", "{{team}}"),
                ]), member: "deployments",
            one: PushRequest("GET", "/v13/deployments/{{deployment}}", query: [.init("teamId", "{{team}}")]),
            read: PushExchange.deploymentAtVercel,
            beginning: { exchange, project throws(RoleFailure) in try exchange.redeploymentAtVercel(of: project) },
            id: "id"),
        errors: [
            // A status of success, and yet the variable was not set.
            ErrorRule(listing: "failed", contains: ["ENV_CONFLICT"], meaning: .pushEnvironmentsConflict),
            ErrorRule(listing: "failed", meaning: .pushRejected),
            ErrorRule(status: 403, contains: ["rate_limited"], meaning: .pushRateLimited),
            ErrorRule(contains: ["ENV_CONFLICT"], meaning: .pushEnvironmentsConflict),
        ])

    /// The variables, with the time of their last change.
    private static let variables = PushRequest(
        "GET", "/v10/projects/{{project}}/env", query: [.init("teamId", "{{team}}")])
}

extension PushExchange {
    /// Whether each of our environments has the variable. A variable of this name for some of them and for others is not
    /// written. The API would refuse a second one, and never changes the environments of the first.
    fileprivate mutating func shownByVercel(
        _ first: HTTPAnswer, in variables: PushRequest
    ) throws(RoleFailure) -> PushKind.ShownSecret {
        let ours = try list("envs", of: variables, from: first).filter { !shared($0).isEmpty }
        let found = ours.map(shared)
        let isEverywhere = environments.isSubset(of: found.joined())
        let shown = ours.reduce(isEverywhere ? PushKind.ShownSecret.hidden : .empty) {
            $0.guarding($1["value"]?.text)
        }
        if case .unwritable = shown { return shown }
        guard let others = found.first(where: { $0 != environments }) else { return shown }
        let names = hidden.words(others.sorted().joined(separator: ", "))
        return .unwritable(shown, RoleFailure(.pushEnvironmentsConflict, "it is set for \(names)"))
    }

    private var environments: Set<String> {
        let list = try? JSONValue(Array(values["environments", default: "[]"].utf8))
        return Set(list?.elements?.compactMap(\.text) ?? [])
    }

    /// The environments of a variable of our name, custom ones by their ids; empty if none of them is ours. A variable for one branch is another one.
    private func shared(_ variable: JSONValue) -> Set<String> {
        guard variable["key"]?.text == values["variable"], variable["gitBranch"]?.text == nil else { return [] }
        let target = variable["target"]
        let names = Set((target?.elements ?? [target].compactMap { $0 }).compactMap(\.text))
        let custom = variable["customEnvironmentIds"]?.elements?.compactMap(\.text) ?? []
        return names.isDisjoint(with: environments) ? [] : names.union(custom)
    }

    fileprivate mutating func changeAtVercel(of variables: PushRequest) throws(RoleFailure) -> Int64? {
        let found = try list("envs", of: variables)
        let shown = found.filter { !shared($0).isEmpty }.compactMap { Deployment.moment($0["updatedAt"]) }.max()
        let name = Printable.name(values["variable", default: ""])
        return try lastChange(
            shown, orThrow: RoleFailure(.pushPlaceMissing, "there is no variable \(name) in the project"))
    }

    /// Deploys the current production again, not a user's trial elsewhere.
    fileprivate mutating func redeploymentAtVercel(of project: JSONValue?) throws(RoleFailure) -> PushRequest {
        guard let running = project?[["targets", "production", "id"]]?.text, let name = project?["name"]?.text
        else { throw RoleFailure(.pushPlaceMissing, "the project has no deployment in production") }
        values["deployment"] = running
        values["project_name"] = name
        return PushRequest(
            "POST", "/v13/deployments", query: [.init("forceNew", "1"), .init("teamId", "{{team}}")],
            body: .json(
                #"{"name":{{project_name}},"deploymentId":{{deployment}},"target":"production","#
                    + #""meta":{"action":"redeploy"}}"#))
    }

    /// A deployment as a list shows it, or the API by itself.
    @Sendable fileprivate static func deploymentAtVercel(_ entry: JSONValue) throws(RoleFailure) -> Deployment {
        guard let began = Deployment.moment(entry["createdAt"] ?? entry["created"]),
            let state = (entry["readyState"] ?? entry["state"])?.text
        else { throw RoleFailure(.pushAnswerUnexpected, "a deployment has no state or no start time") }
        let isStaged = ["STAGED", "ROLLING"].contains(entry["readySubstate"]?.text)
        let stage: Deployment.Stage =
            switch state {
            // If new deployments do not get the production domains, it waits for a person.
            case "READY" where isStaged: .going
            case "READY": .running
            case "ERROR", "DELETED": .failed
            // Also that of a deployment which the project's Ignored Build Step does not want.
            case "CANCELED": .cancelled
            default: .going
            }
        let words = isStaged ? "ready but not promoted" : state
        return Deployment(stage, words, id: (entry["uid"] ?? entry["id"])?.text, began: began)
    }
}
