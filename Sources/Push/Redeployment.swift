import AppleClientSecret
import Failures

/// How a project is deployed again, for an API where a variable acts with the next deployment only.
///
/// The rules are:
/// - Every deployment to production counts that began after the variable was last set, by the API's own clock, also one that
///   another program began. So a project is deployed once for one secret, also when an answer was lost, and once for secrets
///   that were pushed together.
/// - After a deployment that failed, no other one is begun for a while.
struct Redeployment: Sendable {
    /// The settings that name what is deployed.
    let project: [String]
    /// The setting that says for which environments a target's variable is.
    let environments: String
    /// Begins a deployment where none has what was pushed; returns whether one has that runs.
    let deploy: @Sendable (inout PushExchange) throws(RoleFailure) -> Bool
}

/// One deployment to production, as an API lists it.
struct Deployment {
    enum Stage { case going, running, failed, cancelled }

    private(set) var stage: Stage
    /// The API's id of it.
    let id: String?
    /// The stage as the API calls it.
    private(set) var words: String
    /// In milliseconds since the epoch.
    let began: Int64

    /// A moment in milliseconds since the epoch, as an API says it; nil for anything else.
    static func moment(_ value: JSONValue?) -> Int64? { value?.whole.flatMap { $0 >= 0 ? $0 : nil } }

    init(_ stage: Stage, _ words: String, id: String?, began: Int64) {
        self.stage = stage
        self.id = id
        self.words = words
        self.began = began
    }

    /// The same, if it is known which one serves now: another one may have been chosen since (a rollback).
    func serving(_ current: String?) -> Deployment {
        guard stage == .running, let current, id != current else { return self }
        var other = self
        (other.stage, other.words) = (.going, "ready, but another deployment serves")
        return other
    }

    /// How long one may take, in milliseconds, and how long after the beginning of one that failed no other is begun: not so
    /// short that a project that cannot be built uses up what the API allows in a day.
    static let longest: Int64 = 3_600_000
}

extension PushExchange {
    /// Whether a deployment since a change runs; nil where one has to be begun. Throws where one failed that is not to be tried
    /// again yet.
    ///
    /// - Parameter changed: in milliseconds since the epoch.
    func state(of deployments: [Deployment], since changed: Int64) throws(RoleFailure) -> Bool? {
        let found = deployments.filter { $0.began >= changed }
        if found.contains(where: { $0.stage == .running }) { return true }
        let now = clock ?? changed
        if let going = found.first(where: { $0.stage == .going }) {
            guard now - going.began < Deployment.longest else {
                throw RoleFailure(.pushDeploymentFailed, "it has been \(hidden.words(going.words)) for an hour")
            }
            return false
        }
        if let failed = found.first(where: { now - $0.began < Deployment.longest }) {
            throw RoleFailure(
                failed.stage == .cancelled ? .pushDeploymentCancelled : .pushDeploymentFailed,
                "its state is \(hidden.words(failed.words))")
        }
        return nil
    }

    /// The array of this name in an answer, or the answer itself. An answer without it says nothing: taken for an empty list, it
    /// would have a project deployed again and again.
    mutating func list(_ name: String? = nil, of request: PushRequest) throws(RoleFailure) -> [JSONValue] {
        let answer = try self.answer(to: request)
        let pointer = name.map { [$0] } ?? []
        try check(answer, [Shape(at: pointer, is: [.array])])
        return json(answer)?[pointer]?.elements ?? []
    }
}
