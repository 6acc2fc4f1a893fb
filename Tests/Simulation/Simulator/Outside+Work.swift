import AppleClientSecret
import Failures
import Model
import Rotation
import TestSupport

/// How the daemon's jobs are carried out.
extension Outside {
    /// How long a job takes, in milliseconds; nil while its file hangs.
    func delay(of job: Job, _ random: inout SeededGenerator) -> UInt64? {
        if case .file(let path) = job.resource, broken.hanging.contains(path) {
            meet(.fileHung)
            return nil
        }
        if case .run(let action, _) = job.work, broken.actions[action.id] == .byHanging { return 30_000 }
        if let target = job.asksTarget {
            return api.failureMode[target] == .isLate ? 10_000 + random.next() % 35_000 : random.next() % 2000
        }
        return random.next() % 50
    }

    /// Carries out a job and returns its result.
    func carryOut(_ job: Job, _ random: inout SeededGenerator) -> Result<Outcome, Failure> {
        switch job.work {
        case .readConfiguration:
            guard broken.isTextBad else { return .success(.configuration(configuration)) }
            meet(.reloadRefused)
            return .success(.refused(Self.refusal))
        case .checkConfiguration:
            guard broken.isTextBad else { return .success(.passes) }
            meet(.wouldNotStart)
            return .success(.refused(Self.refusal))
        case .readKey(let name, _): return readKey(name)
        case .recall(let client, _): return recall(client)
        case .observe(let spec):
            if sabotage == .believesMemory, let written = written[spec.path] { return .success(.observed(written)) }
            return .success(.observed(observe(spec)))
        case .readSource(_, let file): return read(file)
        case .readStore, .putRollout, .putInStore, .putReport, .readReports, .forgetReport:
            fatalError("\(job.work) without a store")
        case .writeMetrics, .removeMetrics: fatalError("\(job.work) without a metrics_file")
        case .mint(let client, let key, let claims): return mint(client, key, claims, &random)
        case .keep(let client, let record):
            guard !broken.isStateUnusable else { return stateFailure(client) }
            for secret in [record.current, record.candidate].compactMap({ $0 }) { need(secret) }
            unreported[job.id] = .record(client, records[client])
            records[client] = record
            return .success(.kept(record))
        case .verify(let client, let secret):
            need(secret)
            let wasRefused = apple.refusals[secret.fingerprint] != nil
            let (answer, fault) = apple.answer(secret, of: client, at: api.clock)
            if let fault { meet(fault) }
            return sabotage?.twist(answer, about: client, wasRefused: wasRefused) ?? answer
        case .publish(let spec, let secrets, let mayCreate, _): return publish(job.id, spec, secrets, mayCreate)
        case .push(let client, let secret, let output, _): return push(secret, of: client, to: output, &random)
        case .readTarget(_, let secret, let output): return readTarget(secret, at: output)
        case .run(.redeploy(let project, let targets), let covering):
            return redeploy(project, targets, covering, &random)
        case .run(let action, let covering):
            if case .stateChangeAction(let id) = job.resource { return page(id) }
            return run(action, covering)
        case .probe: return .success(.feasible)
        case .recallReportedStates:
            return broken.isStateGone ? stateFailure() : .success(.recalledReportedStates(told))
        case .keepReportedStates(let told):
            guard !broken.isStateUnusable else { return stateFailure() }
            self.told = told
            return .success(.keptReportedStates(told))
        case .tidyRecords(let clients, let moment, _, _):
            records = records.filter { client, record in
                let secrets = [record.current].compactMap { $0 } + record.delivered.values
                return clients.contains(client) || secrets.contains { $0.expiresAt >= moment }
            }
            return .success(.tidied([]))
        }
    }

    private static let refusal = ["clientsecretd.yaml:1:1: error: not a configuration"]

    private func readKey(_ name: KeyName) -> Result<Outcome, Failure> {
        if let code = broken.keys[name] {
            meet(code == .keyMissing ? .keyMissing : .keyUnreadable)
            return .failure(Failure(code, at: .key(name)))
        }
        guard var print = prints[name] else { return .failure(Failure(.keyMissing, at: .key(name))) }
        if sabotage == .readsKeysOnce {
            print = firstPrints[name] ?? print
            firstPrints[name] = print
        }
        known.insert(print)
        return .success(.key(print))
    }

    private func recall(_ client: ClientName) -> Result<Outcome, Failure> {
        guard !broken.isStateGone else {
            // The daemon can no longer know that these files held other lines.
            deleted = []
            return stateFailure(client)
        }
        let record = records[client] ?? Record()
        for secret in [record.current, record.candidate].compactMap({ $0 }) {
            secretCache.insert(secret.fingerprint)
            if let signer = secret.signer { known.insert(signer) }
        }
        return .success(.recalled(record))
    }

    private func stateFailure(_ client: ClientName? = nil) -> Result<Outcome, Failure> {
        meet(.stateUnusable)
        return .failure(Failure(.stateUnusable, at: client.map(Failure.Place.client) ?? .named("the state directory")))
    }

    private func mint(
        _ client: ClientName, _ key: KeyName, _ claims: Claims, _ random: inout SeededGenerator
    ) -> Result<Outcome, Failure> {
        if let code = broken.keys[key] { return .failure(Failure(code, at: .key(key))) }
        guard let print = prints[key] else { return .failure(Failure(.keyMissing, at: .key(key))) }
        if !known.contains(print) { meet(.keySwappedBeforeSigning) }
        known.insert(print)
        mints += 1
        let issued = SecretInfo(fingerprint: Fingerprint(leadingBytes: random.next()), claims: claims, signer: print)
        minted[issued.fingerprint] = issued
        secretCache.insert(issued.fingerprint)
        return .success(.minted(issued))
    }

    /// Notes a violation if a secret is needed whose bytes the daemon does not have.
    func need(_ issued: SecretInfo) {
        if !secretCache.contains(issued.fingerprint) {
            violation = Violation(.bytes, "the bytes of \(issued.fingerprint) were asked for, which nobody has")
        }
    }
}

extension Job {
    /// The target whose API it asks.
    var asksTarget: TargetName? {
        switch work {
        case .push(_, _, let output, _), .readTarget(_, _, let output): output.target
        case .run(.redeploy(_, let targets), _): targets.first
        default: nil
        }
    }
}

extension Action {
    var isRedeployment: Bool {
        if case .redeploy = self { true } else { false }
    }
}
