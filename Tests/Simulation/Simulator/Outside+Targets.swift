import AppleClientSecret
import Failures
import Model
import Rotation
import TestSupport

/// How secrets are pushed to APIs, what these show, and what is deployed from there.
extension Outside {
    func push(
        _ secret: SecretInfo, of client: ClientName, to output: PushOutput, _ random: inout SeededGenerator
    ) -> Result<Outcome, Failure> {
        need(secret)
        let output = sabotage == .mixesUpTargets ? another(than: output) : output
        if let failure = failure(of: output.target, .target(output.target)) {
            if sabotage == .believesPushes { return .success(.pushed(PushPlaceReading(holds: nil))) }
            // What is not answered may have arrived.
            if failure.code == .pushTimedOut { api.keep(secret, at: output) }
            return .failure(failure)
        }
        switch api.failureMode[output.target] {
        case .saysFailed:
            meet(.pushedAmbiguously)
            api.keep(secret, at: output)
            return .failure(Failure(.pushServerFailed, at: .target(output.target), detail: "503"))
        case .keepsNothing where Api.shows(output.target):
            meet(.pushNotKept)
            return .success(.pushed(PushPlaceReading(holds: false)))
        default: break
        }
        api.keep(secret, at: output)
        return .success(.pushed(PushPlaceReading(holds: Api.shows(output.target) ? true : nil)))
    }

    func readTarget(_ secret: SecretInfo, at output: PushOutput) -> Result<Outcome, Failure> {
        need(secret)
        if let failure = failure(of: output.target, .target(output.target)) { return .failure(failure) }
        guard Api.shows(output.target) else { return .success(.targetRead(PushPlaceReading(holds: nil))) }
        return .success(
            .targetRead(PushPlaceReading(holds: sabotage == .believesPlaces || api.holds(secret, at: output))))
    }

    /// Another target than this one.
    private func another(than output: PushOutput) -> PushOutput {
        let all = clients.flatMap(\.value.targets)
        return all.first { $0 != output } ?? output
    }

    /// Why an API does not do what it is asked for a resource.
    private func failure(of target: TargetName, _ resource: Resource) -> Failure? {
        // A wish to be left alone counts until something else was tried, as for somebody who did not want to wait.
        api.restsUntil[resource] = nil
        switch api.failureMode[target] {
        case .isUnreachable:
            meet(.apiUnreachable)
            // Every second request has arrived.
            unanswered += 1
            return Failure(unanswered % 2 == 0 ? .pushTimedOut : .pushUnreachable, at: .target(target))
        case .refusesToken:
            meet(.apiTokenRefused)
            return Failure(.pushCredentialsRefused, at: .target(target), detail: "401")
        case .hasNoToken:
            meet(.apiTokenGone)
            return Failure(.pushTokenUnusable, at: .target(target))
        case .wantsRest:
            meet(.apiWantsRest)
            let seconds = 60 + api.clock % 1200
            api.restsUntil[resource] = api.clock + seconds * 1000
            return Failure(.pushRateLimited, at: .target(target), retryAfter: Seconds(seconds))
        case .isLate:
            meet(.apiLate)
            return nil
        case .saysFailed, .keepsNothing, .failsDeployments, nil: return nil
        }
    }

    /// Begins a deployment where none has what was pushed last, and says whether one has that runs.
    func redeploy(
        _ project: String, _ targets: [TargetName], _ covering: [ClientName: CoveredClient],
        _ random: inout SeededGenerator
    ) -> Result<Outcome, Failure> {
        let action = Action.redeploy(project: project, targets: targets).id
        var isReady = true
        for client in covering.keys.sorted() {
            for output in configuration.clients[client]?.targets ?? [] where targets.contains(output.target) {
                if let failure = failure(of: output.target, .action(action)) { return .failure(failure) }
                let all = (api.deployments[project] ?? []).filter {
                    $0.began >= api.places[output.place]?.setAt ?? 0
                }
                if let ready = all.last(where: { !$0.fails && $0.endsAt <= api.clock }) {
                    let reader = Reader(client: client, action: action)
                    held[reader] = api.holdsUnknown(output) ? covering[client]?.issued : ready.secret
                    unheard.insert(reader)
                } else if all.contains(where: { $0.endsAt > api.clock }) {
                    isReady = false
                } else if all.contains(where: { $0.fails && api.clock < $0.began + Api.failurePause }) {
                    meet(.deploymentFailed)
                    return .failure(Failure(.pushDeploymentFailed, at: .target(output.target), detail: "ERROR"))
                } else {
                    isReady = false
                    runs += 1
                    api.deploy(
                        project, from: output, lasting: 20_000 + Int64(random.next() % 180_000))
                }
            }
        }
        return .success(isReady || sabotage == .believesDeployments ? .ran : .deploying)
    }

    /// What was pushed while no record could be kept is unknown to the next daemon, where the API does not show it: such a place
    /// holds a later secret than that daemon can know.
    func forgetUnrecordedPushes() {
        for (name, entry) in configuration.clients {
            for output in entry.targets where !Api.shows(output.target) {
                guard let held = api.secret(at: output), records[name]?.pushed[output] != held else { continue }
                api.places[output.place]?.isDamaged = true
                // Nor can it know what runs with that.
                for action in entry.onChange where action.isRedeployment {
                    self.held[Reader(client: name, action: action.id)] = records[name]?.delivered[action.id]
                }
            }
        }
    }

    /// An application reads its client's places behind APIs.
    func fetch(_ reader: Reader) {
        guard let output = configuration.clients[reader.client]?.targets.last else { return }
        fetched[reader] = api.places[output.place]?.held
    }
}
