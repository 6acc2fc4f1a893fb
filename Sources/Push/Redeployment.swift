import AppleClientSecret
import Failures
import SignIn

/// How a project is deployed again, for an API where a variable acts with the next deployment only: Vercel's requests.
///
/// The rules are:
/// - What runs in production now is deployed again, not what somebody tries elsewhere.
/// - Every deployment counts that began after the variable was last set, by the API's own clock, also one that somebody else
///   began. So a project is deployed once for one secret, also when an answer was lost, and once for secrets that were
///   pushed together.
/// - After a deployment that failed, no other one is begun for a while.
struct Redeployment: Sendable {
    /// Lists the variables, with the time of their last change.
    let variables: PushRequest
    /// Lists deployments to production that began at `changed` or later, in milliseconds.
    let deployments: PushRequest
    /// Shows the project with what runs in production.
    let current: PushRequest
    /// Deploys `deployment` again, of the project called `project_name`.
    let start: PushRequest

    /// How long after the beginning of a deployment that failed no other one is begun, in milliseconds: as long as one may
    /// take, and not so short that a project that cannot be built uses up what the API allows in a day.
    static let failurePause = longest
    /// How long a deployment may take, in milliseconds.
    static let longest: Int64 = 3_600_000
    /// The states in which a deployment has ended without running.
    static let failed: Set = ["ERROR", cancelled, "DELETED"]
    /// Also that of a deployment which the project's Ignored Build Step does not want.
    static let cancelled = "CANCELED"
}

extension PushExchange {
    /// Begins a deployment where none has what was pushed; returns whether one has that runs.
    mutating func redeploy() throws(RoleFailure) -> Bool {
        guard let steps = target.kind.redeployment else {
            throw RoleFailure(.pushUnconfigured, "nothing is deployed at targets of this kind")
        }
        let name = values["variable", default: ""]
        let variables = try list("envs", try self.answer(to: steps.variables))
        let changed = variables.filter { $0["key"]?.text == name }.compactMap { $0["updatedAt"]?.whole }.max()
        guard let changed else {
            throw RoleFailure(.pushPlaceMissing, "there is no variable \(Printable.name(name)) in the project")
        }
        values["changed"] = String(changed)
        let answer = try self.answer(to: steps.deployments)
        let now = (answer.date?.secondsSinceEpoch ?? changed / 1000) * 1000
        var found: [Deployment] = []
        for entry in try list("deployments", answer) {
            guard let began = (entry["createdAt"] ?? entry["created"])?.whole,
                let state = (entry["readyState"] ?? entry["state"])?.text
            else { throw RoleFailure(.pushAnswerUnexpected, "a deployment has no state, or no time of its beginning") }
            if began >= changed { found.append(Deployment(state: state, age: now - began)) }
        }
        if found.contains(where: { $0.state == "READY" }) { return true }
        if let going = found.first(where: { !Redeployment.failed.contains($0.state) }) {
            guard going.age < Redeployment.longest else {
                throw RoleFailure(.pushDeploymentFailed, "it is \(Printable.name(going.state)) for an hour")
            }
            return false
        }
        if let failed = found.first(where: { $0.age < Redeployment.failurePause }) {
            throw RoleFailure(
                failed.state == Redeployment.cancelled ? .pushDeploymentCancelled : .pushDeploymentFailed,
                "its state is \(Printable.name(failed.state))")
        }
        let project = json(try self.answer(to: steps.current))
        guard let running = project?["targets"]?["production"]?["id"]?.text, let projectName = project?["name"]?.text
        else { throw RoleFailure(.pushPlaceMissing, "the project has no deployment in production") }
        values["deployment"] = running
        values["project_name"] = projectName
        _ = try self.answer(to: steps.start, isChange: true)
        return false
    }

    /// The array of this name in an answer. An answer without it says nothing: taken for an empty list, it would have a project
    /// deployed again and again.
    private func list(_ name: String, _ answer: PushHTTPAnswer) throws(RoleFailure) -> [JSONValue] {
        try check(answer, [Shape(at: [name], is: [.array])])
        return json(answer)?[name]?.elements ?? []
    }

    private struct Deployment {
        let state: String
        /// In milliseconds.
        let age: Int64
    }
}
