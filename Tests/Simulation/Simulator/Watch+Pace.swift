import AppleClientSecret
import Failures
import Model
import Rotation

/// Whether no more is started than necessary.
extension Watch {
    /// Records that a job is started, which must not be too soon or for nothing.
    mutating func start(_ job: Job, _ simulator: Simulator) throws {
        let boot = simulator.boot
        jobs[job.id] = job
        // How often Apple is asked is watched apart.
        if open.isEmpty, let last = failures[job.resource], ![.observe, .verify].contains(Fault.Kind(job.work)) {
            let pause =
                targets.pause(after: last.count, on: job.resource)
                ?? Self.pause(after: last.count, of: job, isEmergency: isEmergency(job, simulator))
            // Jitter takes off up to a fifth.
            if boot - last.at < pause * 800 {
                throw Violation(.pace, "\(job.resource) is tried again after \(boot - last.at) ms")
            }
            if let rest = simulator.outside.api.restsUntil[job.resource], boot < rest {
                throw Violation(.pace, "\(job.resource) is tried \(rest - boot) ms before the API wants to be asked")
            }
        }
        switch job.work {
        case .mint(let client, _, _):
            // Scheduled renewals are a minute apart, in the whole seconds of the wall clock and whatever the lifetimes.
            // A requested one is tried until it succeeds.
            if !forced.contains(client), let last = minted[client],
                simulator.now.wall < last.issuedAt + Claims.backdating + 60,
                simulator.isWanted(last, of: client), quiet(client, at: boot) > boot - (mintedAt[client] ?? 0)
            {
                throw Violation(.pace, "\(client) was minted twice within a minute")
            }
            if quiet(client, at: boot) > 20_000, !forced.contains(client), simulator.isFresh(client) {
                throw Violation(.pace, "\(client) is minted although its secret is published and not due")
            }
            mintedAt[client] = boot
        case .publish(let spec, let secrets, _, _):
            try repair(job.id, spec.path, secrets, simulator)
            attempted[spec.path] = secrets
            let isQuiet = spec.slots.values.allSatisfy { quiet($0, at: boot) > 20_000 }
            if isQuiet, !uncertain.contains(spec.path), simulator.outside.holds(secrets, in: spec.path) {
                throw Violation(.pace, "\(spec.path) is written although it holds all that is to be written")
            }
            // A repaired file may have been read while it was bad; but a file that somebody keeps changing runs actions
            // no more than three times within an hour.
            if !simulator.outside.holds(secrets, in: spec.path),
                !isContested(spec.path, within: 3_590_000, at: boot)
            {
                expectRuns(for: spec.slots.values)
            } else if !simulator.outside.holds(secrets, in: spec.path) {
                // Its actions run once nobody changes it any longer.
                for client in spec.slots.values { repairedInContest[client] = spec.path }
            }
        case .push(let client, let secret, let output, _):
            guard secret == simulator.rotation.current(of: client) else {
                throw Violation(.verdicts, "\(output.target) is to hold a secret of \(client) that is not in force")
            }
            let isThere = simulator.outside.api.holds(secret, at: output)
            try targets.startPush(
                job.id, secret, output, isThere: isThere, quiet: quiet(client, at: boot), at: boot)
            // The application may have read what was there before.
            if targets.runsActions(secret, output, at: boot) {
                expectRuns(for: CollectionOfOne(client))
            } else {
                pushedInContest[client] = output.target
            }
        case .readTarget(let client, _, let output):
            try targets.startReading(output, quiet: quiet(client, at: boot), at: boot)
        case .run where job.resource.stateChangeActionID != nil: break
        case .run(let action, let covering):
            let isNews = covering.contains { client, covered in
                !told.contains(
                    Delivery(reader: .init(client: client, action: action.id), secret: covered.issued.fingerprint)
                )
            }
            let isAfterContest = covering.keys.contains { client in
                repairedInContest[client].map { !isContested($0, within: 3_590_000, at: boot) } == true
                    || pushedInContest[client].map { !targets.isContested($0, at: boot) } == true
            }
            guard isNews || isAfterContest else { throw Violation(.pace, "\(action.id) is run again for nothing") }
            try targets.startDeployment(action, covering, simulator)
            // A deployment waits for no file, and is asked about once more when one was repaired meanwhile.
            if action.isRedeployment, isPublishing(covering) { overtaken.insert(job.id) }
            try checkAlone(action, covering, simulator)
        default: break
        }
    }

    /// Whether a file of one of these clients is being written.
    private func isPublishing(_ covering: [ClientName: CoveredClient]) -> Bool {
        jobs.values.contains { job in
            guard case .publish(let spec, _, _, _) = job.work else { return false }
            return spec.slots.values.contains { covering[$0] != nil }
        }
    }

    /// Actions may run again for the clients' secrets; what runs now does not count.
    private mutating func expectRuns(for clients: some Collection<ClientName>) {
        told = told.filter { !clients.contains($0.reader.client) }
        for (id, job) in jobs {
            guard case .run(_, let covering) = job.work else { continue }
            if clients.contains(where: { covering[$0] != nil }) { overtaken.insert(id) }
        }
    }

    /// A file that was repaired three times within an hour is repaired every ten minutes at most.
    private mutating func repair(
        _ id: JobID, _ path: AbsolutePath, _ secrets: [FileSlot: SecretInfo], _ simulator: Simulator
    ) throws {
        guard lastWritten[path] == secrets.mapValues(\.fingerprint), !uncertain.contains(path),
            !simulator.outside.holds(secrets, in: path)
        else { return }
        repairing.insert(id)
        guard isContested(path, at: simulator.boot), !asked.contains(path), let last = repairs[path]?.last else {
            return
        }
        if simulator.boot < last + 600_000 {
            throw Violation(.pace, "\(path) is repaired again after \(simulator.boot - last) ms")
        }
    }

    private func isContested(_ path: AbsolutePath, within milliseconds: Int64 = 3_600_000, at boot: Int64) -> Bool {
        (repairs[path] ?? []).filter { boot < $0 + milliseconds }.count >= 3
    }

    /// An action that several clients share waits for those whose secrets are being minted or published, and a little
    /// for those about which Apple is being asked; not where an application needs it at once.
    private func checkAlone(
        _ action: Action, _ covering: [ClientName: CoveredClient], _ simulator: Simulator
    ) throws {
        for (name, entry) in simulator.rotation.configuration.clients
        where covering[name] == nil && entry.onChange.contains(where: { $0.id == action.id }) {
            let isUnderWay = jobs.values.contains { job in
                guard simulator.boot < job.startedAt.milliseconds + 30_000 else { return false }
                return switch job.work {
                case .mint(let client, _, _): client == name
                case .publish(let spec, _, _, _): spec.slots.values.contains(name)
                default: false
                }
            }
            if !isUnderWay { try checkVerdictAwaited(name, action, covering, simulator) }
            if isUnderWay { throw Violation(.pace, "\(action.id) is run without \(name), which is about to need it") }
        }
    }

    private func checkVerdictAwaited(
        _ name: ClientName, _ action: Action, _ covering: [ClientName: CoveredClient], _ simulator: Simulator
    ) throws {
        let boot = simulator.boot
        let isAsked = jobs.values.contains { job in
            guard case .verify(let client, let secret) = job.work, client == name else { return false }
            return secret != simulator.rotation.current(of: name) && !simulator.verdicts.isRefused(secret)
        }
        guard isAsked, let mintedAt = mintedAt[name], boot < mintedAt + 15_000, quiet(name, at: boot) > 15_000 else {
            return
        }
        for (client, covered) in covering {
            guard let entry = simulator.rotation.configuration.clients[client], quiet(client, at: boot) > 15_000,
                let held = known[.init(client: client, action: action.id)], held != covered.issued,
                entry.criticalFrom(held) > simulator.now.wall, !simulator.mayBeRefused(held, entry),
                !simulator.verdicts.isRefused(covered.issued),
                !simulator.verdicts.replacesRefused.contains(client)
            else { return }
        }
        throw Violation(.pace, "\(action.id) is run without \(name), about whose secret Apple is being asked")
    }

    /// Records how a job has ended. Returns the applications that were notified.
    mutating func finish(
        _ id: JobID, _ result: Result<Outcome, Failure>, _ configuration: Configuration, at now: Now
    ) -> [Outside.Reader] {
        let boot = now.boot.milliseconds
        guard let job = jobs.removeValue(forKey: id) else { return [] }
        // Actions do not wait for more than half a minute.
        if case .push(let client, let secret, let output, _) = job.work, targets.runsActions(secret, output, at: boot) {
            expectRuns(for: CollectionOfOne(client))
        }
        if case (.push(let client, _, _, _), .success) = (job.work, result) { pushedAt[client] = boot }
        targets.finish(job, result, configuration, at: now)
        let outcome: Outcome
        switch result {
        case .success(let value): outcome = value
        case .failure(let failure):
            if case .publish(let spec, _, _, _) = job.work { uncertain.insert(spec.path) }
            if case .recall(let client, _) = job.work { blank.insert(client) }
            if former.remove(id) == nil {
                // A write that was not permitted need not wait once somebody touches the file.
                let failedAt = failure.code == .permissionDenied ? Int64.min / 2 : boot
                // The daemon may have found meanwhile that nothing has to be written: the count begins again.
                let earlier = failures[job.resource].flatMap { last in
                    let longest = Fault.Kind(job.work) == .keep ? 2 * Self.pause(after: last.count, of: job) : 7_200
                    return last.at > 0 && boot > last.at + longest * 1000 ? nil : last.count
                }
                failures[job.resource] = ((earlier ?? 0) + 1, failedAt)
                failuresInARow[job.resource, default: 0] += 1
            }
            return []
        }
        if Fault.Kind(job.work) != .observe {
            failures[job.resource] = nil
            failuresInARow[job.resource] = nil
        }
        if case .file(let path) = job.resource { uncertain.remove(path) }
        switch (job.work, outcome) {
        case (.run, .deploying): break
        case (.run(let action, let covering), _):
            let isOvertaken = overtaken.remove(id) != nil
            for (client, covered) in covering {
                let reader = Outside.Reader(client: client, action: action.id)
                known[reader] = covered.issued
                repairedInContest[client] = nil
                pushedInContest[client] = nil
                if !isOvertaken { told.insert(Delivery(reader: reader, secret: covered.issued.fingerprint)) }
                let actions = configuration.clients[client]?.onChange.map(\.id) ?? []
                guard !actions.isEmpty, actions.allSatisfy({ known[.init(client: client, action: $0)] != nil }) else {
                    continue
                }
                blank.remove(client)
                known = known.filter { $0.key.client != client || actions.contains($0.key.action) }
            }
            return covering.keys.map { Outside.Reader(client: $0, action: action.id) }
        case (.observe(let spec), .observed(let observation)):
            // A file that has appeared or gone need not wait.
            let existed = exists.updateValue(observation.exists, forKey: spec.path)
            if existed != observation.exists { failures[job.resource]?.at = .min / 2 }
            // A write whose content is in place after all has not failed.
            if observation.isAsConfigured, let wanted = attempted[spec.path],
                wanted.allSatisfy({ observation.slots[$0]?.secret?.fingerprint == $1.fingerprint })
            {
                failures[job.resource] = nil
            }
        case (.publish(let spec, let secrets, _, _), _):
            exists[spec.path] = true
            asked.remove(spec.path)
            let written = secrets.mapValues(\.fingerprint)
            if lastWritten.updateValue(written, forKey: spec.path) == written, repairing.remove(id) != nil {
                repairs[spec.path] = (repairs[spec.path] ?? []).suffix(9) + [boot]
            }
        case (.mint(let client, _, _), .minted(let issued)):
            minted[client] = issued
            forced.remove(client)
        case (.recall(let client, _), .recalled(let record)):
            if record == Record() { blank.insert(client) } else { blank.remove(client) }
            for (action, issued) in record.delivered {
                let reader = Outside.Reader(client: client, action: action)
                known[reader] = known[reader] ?? issued
            }
        case (.readConfiguration, .configuration(let configuration)):
            isRefused = false
            former = Set(jobs.keys)
            known = known.filter { configuration.clients[$0.key.client] != nil }
            blank.formIntersection(configuration.clients.keys)
            let actions = Set(configuration.clients.values.flatMap(\.onChange).map { Resource.action($0.id) })
            failuresInARow = failuresInARow.filter { actions.contains($0.key) }
        case (.readConfiguration, .refused), (.checkConfiguration, .refused): isRefused = true
        case (.checkConfiguration, .passes): isRefused = false
        default: break
        }
        return []
    }

    /// The pause after so many failures in a row, in seconds: doubled each time, up to a minute for local jobs and in
    /// an emergency, a quarter of an hour for a program, and an hour for a unit whose job has failed three times.
    private static func pause(after failures: Int, of job: Job, isEmergency: Bool = false) -> Int64 {
        guard case .run(let action, _) = job.work else { return min(60, Int64(1) << Int64(min(failures - 1, 6))) }
        let doubled = min(isEmergency ? 60 : 900, Int64(30) << Int64(min(failures - 1, 5)))
        if case .exec = action { return doubled }
        if action.isRedeployment { return doubled }
        return failures >= 3 ? 3600 : doubled
    }

    // MARK: Emergencies

    /// Since when the application of one of these clients holds a secret that is critical or has expired; nil when none
    /// does.
    private func emergencySince(
        _ id: ActionID, _ clients: some Sequence<ClientName>, _ simulator: Simulator
    ) -> Int64? {
        clients.compactMap { client -> Int64? in
            guard let entry = simulator.rotation.configuration.clients[client],
                let index = entry.onChange.firstIndex(where: { $0.id == id }), let held = told(client, entry)[index]
            else { return nil }
            let ago = simulator.now.wall.secondsSinceEpoch - entry.criticalFrom(held).secondsSinceEpoch
            return ago < 0 ? nil : simulator.boot - ago * 1000
        }.min()
    }

    private func isEmergency(_ job: Job, _ simulator: Simulator) -> Bool {
        guard case .action(let id) = job.resource else { return false }
        let clients = simulator.rotation.configuration.clients
        return emergencySince(id, clients.keys, simulator) != nil
            || clients.contains { name, entry in
                entry.onChange.contains { $0.id == id }
                    && (blank.contains(name)
                        || everDelivered(to: name).contains { simulator.mayBeRefused($0, entry) })
            }
    }

    /// Records that a job takes effect. An application whose secret is critical is notified at least once a minute, if
    /// only its action fails and that is no unit which needs a person.
    mutating func begin(_ job: Job, _ simulator: Simulator) throws {
        guard case .run(let action, let covering) = job.work, !action.isRedeployment,
            job.resource.stateChangeActionID == nil,
            let last = failures[job.resource], let failed = failuresInARow[job.resource],
            let since = emergencySince(action.id, covering.keys, simulator)
        else { return }
        simulator.outside.meet(.retriedInEmergency)
        if case .exec = action {} else if failed >= 3 { return }
        let sharers = simulator.outside.configuration.clients.filter { _, entry in
            entry.onChange.contains { $0.id == action.id }
        }
        let free = sharers.keys.map {
            max(disturbedAt[$0] ?? 0, publishesSince[$0] ?? simulator.boot, pushedAt[$0] ?? 0)
        }
        let late = simulator.boot - max(since, last.at, free.max() ?? 0)
        if late > 90_000 {
            throw Violation(.pace, "\(action.id) waits for \(late) ms while its application's time is running out")
        }
    }

    /// How long a failed action would still wait if no secret were running out, in milliseconds.
    func ordinaryWait(for job: Job, at boot: Int64) -> Int64 {
        guard case .action = job.resource, let last = failures[job.resource] else { return 0 }
        return max(0, last.at + Self.pause(after: last.count, of: job) * 1000 - boot)
    }
}
