import AppleClientSecret
import Failures
import Model
import Rotation

/// An observer of what APIs are asked. Moments are in milliseconds of the boot clock.
struct TargetWatch: ~Copyable {
    /// What the living daemon knows that it has put into each place.
    private(set) var known: [PushOutput: SecretInfo] = [:]
    /// Targets that may hold something else: a push has failed since the last one that did not.
    private(set) var uncertain: Set<TargetName> = []
    /// Targets that were seen to hold something else since the last push.
    private(set) var different: Set<TargetName> = []
    /// Targets whose API has shown something else just after it took what was pushed: that may be older than the push.
    private(set) var awaited: Set<TargetName> = []
    /// Targets whose API has shown something else for five minutes after it took what was pushed, until it shows that.
    private(set) var refuted: Set<TargetName> = []
    /// When each of these took it, unless that was before the start.
    private var pushedAt: [TargetName: Int64] = [:]
    /// When each target was last read, or read back after a push.
    private var readAt: [TargetName: Int64] = [:]
    /// Targets that failed last because of what this machine lacks.
    private var lacking: Set<TargetName> = []
    private var repairing: Set<JobID> = []
    private var repairs: [TargetName: [Int64]] = [:]
    /// When each deployment was last found to be under way.
    private var lookedAt: [ActionID: Int64] = [:]
    /// Clients that a reload has brought since the start. If one was configured before, another client may have pushed to its
    /// places since, so its record says nothing about them.
    private var added: Set<ClientName> = []
    /// When another program has written into a target's place.
    private var changedAt: [TargetName: [Int64]] = [:]

    /// How long repairs count, and how far apart they are in a contested place.
    private static let memory: Int64 = 6 * 3_600_000
    private static let contestedInterval: Int64 = 3_600_000
    /// For how long what an API shows may be older than a push, and how often it is read meanwhile.
    private static let staleness: Int64 = 300_000
    private static let staleInterval: Int64 = 60_000

    /// Forgets what died with the daemon.
    mutating func forget() {
        let changedAt = changedAt
        self = TargetWatch()
        self.changedAt = changedAt
    }

    mutating func change(_ target: TargetName, at boot: Int64) {
        changedAt[target] = (changedAt[target] ?? []).suffix(9) + [boot]
    }

    /// Whether another program may have been noticed lately to write there, or an API that does not keep what is put there
    /// looked as if one did; until a minute after that is over.
    func wasContested(_ entry: ClientConfiguration, at boot: Int64) -> Bool {
        entry.targets.contains { output in
            (changedAt[output.target] ?? []).count { $0 > boot - Self.memory - 4 * 3_600_000 } > 2
                || isContested(output.target, at: boot - 60_000)
        }
    }

    /// What a client's targets are known to hold.
    func known(_ entry: ClientConfiguration) -> [SecretInfo] { entry.targets.compactMap { known[$0] } }

    /// What a client's targets are known to hold, but for those that were seen to hold something else.
    func unchanged(_ entry: ClientConfiguration) -> [SecretInfo] {
        entry.targets.compactMap { different.contains($0.target) ? nil : known[$0] }
    }

    /// Whether it may not be known what some target of a client holds.
    func isVague(_ entry: ClientConfiguration) -> Bool {
        entry.targets.contains { uncertain.contains($0.target) || different.contains($0.target) }
    }

    /// The pause after so many failures in a row, in seconds: doubled each time, up to a quarter of an hour, or a minute where
    /// this machine lacks something; nil for what is no target.
    func pause(after failures: Int, on resource: Resource) -> Int64? {
        guard case .target(let target) = resource else { return nil }
        return min(lacking.contains(target) ? 60 : 900, Int64(5) << Int64(min(failures - 1, 12)))
    }

    // MARK: Jobs

    /// A secret is pushed only where it is not known to be, and one that somebody replaces again and again once an hour.
    ///
    /// - Parameter quiet: for how long nothing has happened to the client that makes it sooner.
    mutating func startPush(
        _ id: JobID, _ secret: SecretInfo, _ output: PushOutput, isThere: Bool, quiet: Int64, at boot: Int64
    ) throws {
        // A secret that was never there is no repair, and waits for nothing.
        guard known[output] == secret else { return }
        // Also after a push that has failed.
        if different.contains(output.target) { repairing.insert(id) }
        guard !uncertain.contains(output.target) else { return }
        if isThere { throw Violation(.pace, "\(output.target) is pushed to although it holds the secret") }
        repairing.insert(id)
        guard isContested(output.target, at: boot), let last = repairs[output.target]?.last,
            quiet > boot - last + 20_000
        else { return }
        if boot < last + Self.contestedInterval {
            throw Violation(.pace, "\(output.target) is repaired again after \(boot - last) ms")
        }
    }

    /// Whether somebody replaces what is pushed there again and again.
    func isContested(_ target: TargetName, at boot: Int64) -> Bool {
        (repairs[target] ?? []).count { boot < $0 + Self.memory } >= 3
    }

    /// Whether actions may run again because a secret is put into a place: what is repaired again and again runs none.
    func runsActions(_ secret: SecretInfo, _ output: PushOutput, at boot: Int64) -> Bool {
        known[output] != secret || !isContested(output.target, at: boot)
    }

    /// An API is asked what it holds once an hour, less up to a quarter; each minute while it shows something else; once after
    /// a start or a request where it shows nothing.
    mutating func startReading(_ output: PushOutput, quiet: Int64, at boot: Int64) throws {
        guard let last = readAt[output.target], quiet > boot - last + 20_000 else { return }
        guard Api.shows(output.target) else {
            throw Violation(.pace, "\(output.target) is read again although it shows nothing")
        }
        let isStale = awaited.contains(output.target) || different.contains(output.target)
        if boot < last + (isStale ? Self.staleInterval : 2_690_000) {
            throw Violation(.pace, "\(output.target) is read again after \(boot - last) ms")
        }
    }

    /// A deployment is looked at every quarter of a minute, and has what its clients' targets are known to hold.
    func startDeployment(
        _ action: Action, _ covering: [ClientName: CoveredClient], _ simulator: Simulator
    ) throws {
        guard case .redeploy(_, let targets) = action else { return }
        for (name, covered) in covering {
            for output in simulator.rotation.configuration.clients[name]?.targets ?? []
            where targets.contains(output.target)
                && (known[output] != covered.issued || uncertain.contains(output.target))
            {
                throw Violation(.pace, "\(action.id) is run although \(output.target) lacks what it is run for")
            }
        }
        if let last = lookedAt[action.id], simulator.boot < last + 15_000,
            covering.keys.allSatisfy({ simulator.watch.quiet($0, at: simulator.boot) > 20_000 })
        {
            throw Violation(.pace, "\(action.id) is looked at again after \(simulator.boot - last) ms")
        }
    }

    mutating func finish(
        _ job: Job, _ result: Result<Outcome, Failure>, _ configuration: Configuration, at now: Now
    ) {
        let boot = now.boot.milliseconds
        if let target = job.asksTarget, case .failure(let failure) = result {
            if failure.code == .pushTokenUnusable { lacking.insert(target) } else { lacking.remove(target) }
        }
        switch (job.work, result) {
        case (.push(let client, _, let output, _), _)
        where configuration.clients[client]?.targets.contains(output) != true:
            // A place that was taken out of the configuration meanwhile counts as unknown when it comes back.
            repairing.remove(job.id)
        case (.push(_, let secret, let output, _), .success(let outcome)):
            if outcome == .pushed(PushPlaceReading(holds: false)) {
                awaited.insert(output.target)
                pushedAt[output.target] = boot
            } else {
                awaited.remove(output.target)
                refuted.remove(output.target)
            }
            if repairing.remove(job.id) != nil {
                repairs[output.target] = (repairs[output.target] ?? []).suffix(9) + [boot]
            }
            known[output] = secret
            uncertain.remove(output.target)
            different.remove(output.target)
            readAt[output.target] = boot
        case (.push(_, _, let output, _), .failure):
            repairing.remove(job.id)
            uncertain.insert(output.target)
            // What it takes after that may again be older than what it shows.
            refuted.remove(output.target)
        case (.readTarget(_, _, let output), .failure): refuted.remove(output.target)
        case (.readTarget(_, let secret, let output), .success(.targetRead(let reading))):
            let holds = reading.holds
            readAt[output.target] = boot
            if holds == false { different.insert(output.target) } else { different.remove(output.target) }
            let mayBeStale = pushedAt[output.target].map { boot < $0 + Self.staleness } ?? true
            // Put there by the daemon that has died: it is never older there than it is itself.
            if holds == false, pushedAt[output.target] == nil,
                now.wall < secret.mintedAt + Seconds(Self.staleness / 1000)
            {
                awaited.insert(output.target)
            }
            if holds != false {
                refuted.remove(output.target)
            } else if !mayBeStale, awaited.contains(output.target), known[output] == secret {
                refuted.insert(output.target)
            }
            if holds != false || !mayBeStale { awaited.remove(output.target) }
        case (.recall, .success(.recalled(let record))):
            guard let client = job.resource.client, !added.contains(client) else { break }
            known.merge(record.pushed) { known, _ in known }
        case (.run(let action, _), let result) where action.isRedeployment:
            lookedAt[action.id] = result == .success(.deploying) ? boot : nil
        case (.readConfiguration, .success(.configuration(let new))):
            added.formUnion(Set(new.clients.keys).subtracting(configuration.clients.keys))
            // A place that was configured before counts as unknown.
            let outputs = Set(new.clients.values.flatMap(\.targets))
            known = known.filter { outputs.contains($0.key) }
            uncertain.formIntersection(known.keys.map(\.target))
            different.formIntersection(known.keys.map(\.target))
            // Every place is tried afresh.
            refuted = []
            lookedAt = [:]
        default: break
        }
    }
}
