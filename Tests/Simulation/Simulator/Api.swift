import Model
import Rotation

/// The APIs that targets lead to, and the way there: what each place holds, what is deployed, and what goes wrong.
struct Api {
    struct Place {
        /// Nil: there is nothing.
        var held: SlotObservation?
        /// Whether another program has written there since something was last pushed, or a daemon that could not keep that it
        /// did.
        var isDamaged = false
        /// When it was last set, by the API's own clock, in milliseconds.
        var setAt: Int64 = 0
    }

    /// What a project runs with, from ``endsAt`` on.
    struct Deployment {
        let began: Int64
        let endsAt: Int64
        let fails: Bool
        let secret: SecretInfo?
    }

    enum FailureMode: Hashable, CaseIterable {
        /// It is not reached, or no answer comes back although it has kept what it was sent.
        case isUnreachable
        case refusesToken
        /// It wants to be left alone for minutes, each time somebody asks too early.
        case wantsRest
        /// It answers after up to three quarters of a minute.
        case isLate
        /// It keeps what it is sent, and says that it failed.
        case saysFailed
        /// It keeps nothing, and says that it has; only where it shows what it holds.
        case keepsNothing
        /// The file with this machine's token is gone.
        case hasNoToken
        /// What is deployed does not run.
        case failsDeployments
    }

    /// By the text that tells places apart.
    var places: [String: Place] = [:]
    /// What was deployed to each project, the latest one last.
    var deployments: [String: [Deployment]] = [:]
    var failureMode: [TargetName: FailureMode] = [:]
    /// Until when the living daemon was told to leave an API alone, by what was asked of it; in milliseconds.
    var restsUntil: [Resource: Int64] = [:]
    /// Its own clock, in milliseconds.
    var clock: Int64 = 0
    private(set) var pushes = 0

    /// The milliseconds after a failed deployment in which none is begun.
    static let failurePause: Int64 = 3_600_000
    /// The milliseconds that a deployment takes at most.
    static let longestDeployment: Int64 = 200_000

    /// Whether an API shows what it holds; the others show nothing.
    static func shows(_ target: TargetName) -> Bool { target == Scenario.shown }

    func secret(at output: PushOutput) -> SecretInfo? { places[output.place]?.held?.secret }

    func holds(_ secret: SecretInfo, at output: PushOutput) -> Bool {
        self.secret(at: output)?.fingerprint == secret.fingerprint
    }

    /// Whether nothing is wrong with a client's targets, and the daemon was not told to leave them alone.
    func serves(_ client: ClientConfiguration, at moment: Int64) -> Bool {
        client.targets.allSatisfy { failureMode[$0.target] == nil && isReady(.target($0.target), at: moment) }
            && client.onChange.allSatisfy { isReady(.action($0.id), at: moment) }
    }

    private func isReady(_ resource: Resource, at moment: Int64) -> Bool { restsUntil[resource] ?? 0 <= moment }

    /// Whether a place holds what nobody can know, because the API does not show it.
    func holdsUnknown(_ output: PushOutput) -> Bool {
        !Self.shows(output.target) && places[output.place]?.isDamaged == true
    }

    mutating func keep(_ secret: SecretInfo, at output: PushOutput) {
        pushes += 1
        places[output.place] = Place(held: .secret(secret), setAt: clock)
    }

    /// Another program puts something else into a place, or removes it.
    mutating func damage(_ output: PushOutput, with other: SlotObservation?) {
        places[output.place] = Place(held: other, isDamaged: true, setAt: clock)
    }

    /// Has what a place holds deployed, by whomever.
    mutating func deploy(_ project: String, from output: PushOutput, lasting milliseconds: Int64) {
        let new = Deployment(
            began: clock, endsAt: clock + milliseconds, fails: failureMode[output.target] == .failsDeployments,
            secret: secret(at: output))
        deployments[project] = (deployments[project] ?? []).suffix(9) + [new]
    }
}
