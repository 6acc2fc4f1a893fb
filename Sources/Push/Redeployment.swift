import AppleClientSecret
import Failures
import Model

/// How a project is deployed again if an API's variables take effect only with the next deployment.
///
/// The rules are:
/// - Every deployment to production counts that began after the variable was last set, by the API's own clock, also one that
///   another program began. So a project is deployed once for one secret, even if an answer was lost, and once for secrets that
///   were pushed together.
/// - The API may show an older state of the variable than our own write: no deployment counts that began before that. A
///   variable that is not shown yet is waited for.
/// - Our own deployment counts even if the list does not show it. For an hour no other one is begun, although the API may not
///   know it.
/// - After a deployment that failed, no other one is begun for a while.
/// - A read also looks at the deployment that serves, once the daemon has seen one with the last write serve, or an hour after
///   that write. A person may have chosen an older one, which has an older secret. This is reported, and nothing is begun: the
///   person had a reason.
struct Redeployment: Sendable {
    /// The settings that name the deployed project.
    let project: [String]
    /// The setting that says for which environments a target's variable is.
    let environments: String
    /// Shows the deployment that serves in production.
    let production: PushRequest
    /// Reads that deployment from the answer; nil if the answer does not show it.
    let serving: @Sendable (JSONValue?) -> ServingDeployment?
    /// When the variable was last set, by ``PushExchange/lastChange(_:orThrow:)``.
    let changed: @Sendable (inout PushExchange) throws(RoleFailure) -> Int64?
    /// Lists deployments to production, those since `{{changed}}` if the API can do that.
    let list: PushRequest
    /// The list's member with them; nil if the answer is the list.
    var member: String?
    /// Shows one deployment, `{{deployment}}`.
    let one: PushRequest
    /// Reads a deployment as the list or the API by itself shows it.
    let read: @Sendable (JSONValue) throws(RoleFailure) -> Deployment
    /// The request that begins a deployment, by the answer to ``production``.
    let beginning: @Sendable (inout PushExchange, JSONValue?) throws(RoleFailure) -> PushRequest
    /// The member of its answer with the deployment's id. An answer without one began none.
    let id: String
}

/// The deployment that serves in production.
struct ServingDeployment {
    /// The API's id of it.
    let id: String
    /// In milliseconds since the epoch; nil if the API does not say it.
    let began: Int64?
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

    /// How long a deployment may take, in milliseconds. After one that failed, no other begins within this time of its
    /// beginning. A project that cannot be built must not use up the API's daily limit.
    static let longest = Action.longestDeployment.count * 1000
}

extension PushExchange {
    /// Begins a deployment if none has the pushed secrets; returns whether one that has them runs.
    mutating func deploy(_ redeployment: Redeployment) throws(RoleFailure) -> Bool {
        guard let changed = try redeployment.changed(&self) else { return false }
        values["changed"] = String(changed)
        let listed = try list(redeployment.member, of: redeployment.list).map(redeployment.read)
        let deployments = try withBegun(listed, since: changed, redeployment)
        let shown = json(try answer(to: redeployment.production))
        let serving = redeployment.serving(shown)?.id
        if let isRunning = try state(of: deployments.map { $0.serving(serving) }, since: changed) { return isRunning }
        let answer = try answer(to: try redeployment.beginning(&self, shown), isChange: true)
        guard let id = json(answer)?[redeployment.id]?.text, isID(id) else {
            throw RoleFailure(.pushAnswerUnexpected, detail(of: answer))
        }
        begun = BegunDeployment(id: id, at: answer.moment ?? WallTime(secondsSinceEpoch: 0))
        return false
    }

    /// Whether a deployment since a change runs; nil if one has to be begun. Throws where one failed that is not to be tried
    /// again yet.
    ///
    /// - Parameter changed: in milliseconds since the epoch.
    private func state(of deployments: [Deployment], since changed: Int64) throws(RoleFailure) -> Bool? {
        let found = deployments.filter { $0.began >= changed || $0.id != nil && $0.id == begun?.id }
        if found.contains(where: { $0.stage == .running }) { return true }
        let now = clock?.milliseconds ?? changed
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

    /// Reports a deployment in production that began before the last write, once there was time to deploy again; nil for a later
    /// one, or if the API does not say when it began. The API's clocks may differ a little.
    mutating func outdatedUse() throws(RoleFailure) -> PushPlaceUse? {
        guard target.redeploys == true, let redeployment = target.kind.redeployment, let writtenAt,
            let now = clock?.milliseconds, isDeployed || now - writtenAt.milliseconds >= Deployment.longest
        else { return nil }
        let serving = redeployment.serving(json(try answer(to: redeployment.production)))
        let wrote = (writtenAt - PushPlaceReading.staleness).milliseconds
        guard let began = serving?.began, began < wrote else { return nil }
        return .outdated("it began at \(WallTime(secondsSinceEpoch: began / 1000))")
    }

    /// The time from which a deployment has the pushed secrets, in milliseconds since the epoch; nil while the API does not
    /// show the variable that was set a moment ago.
    ///
    /// - Parameters:
    ///   - shown: when the variable was last set, as the API shows it; nil if it shows none.
    ///   - missing: thrown where the API shows none for longer.
    func lastChange(_ shown: Int64?, orThrow missing: RoleFailure) throws(RoleFailure) -> Int64? {
        if let shown { return max(shown, writtenAt?.milliseconds ?? 0) }
        // The clocks of an API's machines may differ a little: a write may seem to be still to come.
        guard let writtenAt, let clock,
            (0 - PushPlaceReading.staleness..<PushPlaceReading.staleness).contains(clock - writtenAt)
        else { throw missing }
        return nil
    }

    /// Whether a text can be the id of a deployment: it goes into an address, and to the daemon.
    private func isID(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy(\.isBase64URL)
            && hidden.words(text) == text
    }

    /// The deployments of a list, with the one that was begun for the pushed secrets.
    ///
    /// - Parameter changed: in milliseconds since the epoch.
    private mutating func withBegun(
        _ listed: [Deployment], since changed: Int64, _ redeployment: Redeployment
    ) throws(RoleFailure) -> [Deployment] {
        guard let begun else { return listed }
        guard !listed.contains(where: { $0.id == begun.id }) else { return listed }
        values["deployment"] = begun.id
        do throws(RoleFailure) {
            return listed + [try redeployment.read(json(try answer(to: redeployment.one)) ?? .null)]
        } catch {
            guard error.code == .pushPlaceMissing else { throw error }
        }
        let began = max(begun.at.milliseconds, changed)
        guard (clock?.milliseconds ?? began) - began < Deployment.longest else {
            self.begun = nil
            return listed
        }
        return listed + [Deployment(.going, "unknown to the API", id: begun.id, began: began)]
    }
}

extension WallTime {
    /// Since the epoch; 0 before it, and not more than fits.
    var milliseconds: Int64 {
        let (product, isTooMuch) = max(secondsSinceEpoch, 0).multipliedReportingOverflow(by: 1000)
        return isTooMuch ? .max : product
    }
}
