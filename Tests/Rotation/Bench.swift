import AppleClientSecret
import Failures
import Testing

@testable import Model
@testable import Rotation

/// Drives a core: passes it inputs one by one and answers its jobs from simulated state that the test sets up; ``log``
/// records what the core did.
final class Bench {
    private(set) var rotation: Rotation
    var boot: Int64 = 5_000_000
    /// What the wall clock showed when the boot clock was zero.
    private var wallAtBoot = Values.start - 5000
    var isSynced = true
    /// Another machine's secret, put into the store right before each put from here.
    var intruder: SecretInfo?

    /// What reading a file back returns; a path that is missing here has no file.
    var disk: [AbsolutePath: FileObservation] = [:]
    /// What lies behind each API.
    var places: [TargetName: SecretInfo] = [:]
    /// Targets that do not show what they hold.
    var blind: Set<TargetName> = []
    /// Targets that go on showing what they held before.
    var stale: Set<TargetName> = []
    /// What APIs show there instead.
    var instead: [TargetName: PushPlaceContent] = [:]
    /// Whether APIs show that applications use the places.
    var use: [TargetName: PushPlaceUse] = [:]
    /// Whether what is deployed does not run yet.
    var isDeploying = false
    var records: [ClientName: Record] = [:]
    /// What the store holds; nothing in a place that is missing here.
    var store: [StorePlace: StoreObservation] = [:]
    /// How far what it holds is rolled out.
    var rollouts: [StorePlace: RolloutObservation] = [:]
    /// What the machines report, by their names.
    var reports: [String: ReportObservation] = [:]
    /// What reading a client's source finds; nothing for one that is missing here.
    var sources: [ClientName: SourceObservation] = [:]
    var reportedStates: ReportedStates?
    /// What the search for former outputs finds.
    var orphans: [OrphanedOutput] = []
    /// The keys on disk; a key that is missing here cannot be read.
    var prints: [KeyName: KeyDigest] = [:]
    /// What Apple says of the new secrets of these clients; it accepts all others.
    var verdicts: [ClientName: Result<Outcome, Failure>] = [:]
    /// What the next reading of the configuration finds.
    var text: Result<Outcome, Failure>
    /// Jobs on these resources fail.
    var failures: [Resource: Failure] = [:]
    /// Files that hold something else than a secret.
    var strange: Set<AbsolutePath> = []
    /// Files that another program has open for writing.
    var open: Set<AbsolutePath> = []
    /// Writes of these files fail; reading them back works.
    var failingWrites: [AbsolutePath: Failure] = [:]
    /// What these files hold right after a write, in place of what was written.
    var overwritten: [AbsolutePath: FileObservation] = [:]
    /// Why no report may be removed from the store; nil where it may be.
    var failingForgets: Failure?
    /// Records can be read, and not kept.
    var isStateReadOnly = false
    /// The files with the daemon's metrics.
    var metrics: [AbsolutePath: MetricsFileContent] = [:]
    /// Jobs on these resources do not end until ``release(_:)``.
    var held: Set<Resource> = []

    /// The jobs started since ``forget()``, in words.
    private(set) var log: [String] = []
    private(set) var works: [Work] = []
    private(set) var entries: [LogEvent] = []
    private(set) var answers: [RequestID: Answer] = [:]
    /// The secrets that the credential socket would serve.
    private(set) var served: [ClientName: SecretInfo] = [:]
    private(set) var lastStep = Step()
    private var waiting: [Job] = []
    private var minted: UInt64 = 1000
    /// Of the last put into the store.
    var storeRevision: Int64 = 100
    /// Far more than it takes to publish a secret.
    private static let mostRounds = 200

    init(
        _ configuration: Configuration, once: Bool = false, renewalJitter: Double = 0,
        builtAt: Int64 = -365 * Values.day,
        isRestart: Bool = false
    ) throws {
        rotation = Rotation(
            seed: 7, renewalJitter: renewalJitter, builtAt: Values.moment(builtAt), startedAt: Values.moment(0),
            configurationPath: "/etc/clientsecretd/clientsecretd.yaml", once: once, isRestart: isRestart)
        text = .success(.configuration(configuration))
        for name in configuration.keys.keys { prints[name] = try Values.print("1") }
        rotation.handle(.configured(configuration), at: now)
    }

    /// With the key `apple` alone.
    convenience init(
        _ clients: [String: ClientConfiguration], once: Bool = false, renewalJitter: Double = 0,
        builtAt: Int64 = -365 * Values.day
    ) throws {
        try self.init(Values.configuration(clients), once: once, renewalJitter: renewalJitter, builtAt: builtAt)
    }

    var now: Now {
        Now(
            wall: WallTime(secondsSinceEpoch: wallAtBoot + boot / 1000), boot: BootTime(milliseconds: boot),
            kernelSynced: isSynced)
    }

    // MARK: What a test does

    /// Plans and answers jobs until nothing is left to do at this moment.
    func go() {
        var rounds = 0
        repeat {
            rounds += 1
            guard rounds <= Self.mostRounds else {
                Issue.record("still at it after \(Self.mostRounds) rounds at one moment: \(log.suffix(4))")
                return
            }
            lastStep = rotation.plan(at: now)
            entries += lastStep.changes
            for (requestID, answer) in lastStep.answers { answers[requestID] = answer }
            for change in lastStep.served { served[change.client] = change.secret }
            for job in lastStep.start {
                if let words = Self.words(job.work) { log.append(words) }
                works.append(job.work)
                waiting.append(job)
            }
        } while finishAll()
    }

    /// Does everything that a start demands.
    func started() -> Bench {
        go()
        return self
    }

    /// The same; ``log`` begins then.
    func settled() -> Bench {
        go()
        forget()
        return self
    }

    func tell(_ input: Input) {
        rotation.handle(input, at: now)
        go()
    }

    func ask(_ request: DaemonRequest, _ number: UInt64 = 1) {
        tell(.asked(request, RequestID(number: number)))
    }

    /// Asks for a new secret of a client.
    func renew(_ client: String = "web", number: UInt64 = 1) throws {
        ask(.renew(.init(clients: [try Values.name(client)])), number)
    }

    func answer(_ number: UInt64 = 1) -> Answer? {
        answers[RequestID(number: number)]
    }

    /// What an answer says that is of a certain kind.
    func answer<Value>(_ number: UInt64 = 1, _ value: (Answer) -> Value?) throws -> Value {
        let answer = answer(number)
        let wanted = answer.flatMap(value)
        return try #require(wanted, "\(String(describing: answer))")
    }

    /// Adopts a configuration as a reload does.
    func reload(_ configuration: Configuration, _ number: UInt64 = 1) {
        text = .success(.configuration(configuration))
        ask(.reload, number)
    }

    func reload(_ clients: [String: ClientConfiguration], _ number: UInt64 = 1) throws {
        reload(try Values.configuration(clients), number)
    }

    /// Advances both clocks, planning at every wake until then.
    func pass(_ seconds: Int64) {
        let end = boot + seconds * 1000
        while let next = nextWake, next <= end {
            boot = max(boot, next)
            go()
        }
        boot = end
    }

    /// Lets time pass of which the machine is suspended for all but the last hour: where something fails for months, each
    /// of its retries would take its turn.
    func sleep(_ seconds: Int64) {
        let awake = min(seconds, 3600)
        boot(after: (seconds - awake) * 1000)
        pass(awake)
    }

    /// Advances both clocks by a part of a second.
    func boot(after milliseconds: Int64) {
        boot += milliseconds
        go()
    }

    /// Sets the wall clock and reports that to the core.
    func step(_ seconds: Int64) {
        wallAtBoot += seconds
        tell(.clockSet)
    }

    /// Copies another key over the file of `apple`, by its digit; nil removes it.
    func replaceKey(by digit: Character?, passing seconds: Int64) throws {
        prints[try Values.key()] = try digit.map(Values.print)
        tell(.changeNoticed(.key(try Values.key())))
        pass(seconds)
    }

    func release(_ resource: Resource) {
        held.remove(resource)
        _ = finishAll()
        go()
    }

    /// Ends the job that is held on this resource with this result, whatever it would have found.
    func end(_ resource: Resource, _ result: Result<Outcome, Failure>) throws {
        let position = try #require(waiting.firstIndex { $0.resource == resource })
        held.remove(resource)
        tell(.finished(waiting.remove(at: position).id, result))
    }

    /// Fails the job that is held on this resource, and no other.
    func fail(_ resource: Resource, _ failure: Failure) {
        failures[resource] = failure
        held.remove(resource)
        _ = finishAll()
        failures[resource] = nil
        go()
    }

    /// Restarts the core with what is on disk, as after a kill.
    ///
    /// - Parameters:
    ///   - refused: what is wrong with the text on disk; `configuration` is then the last adopted one.
    ///   - ofMachine: whether the machine was started too.
    func restart(
        _ configuration: Configuration, refused: [String]? = nil, ofMachine: Bool = true, once: Bool = false
    ) throws {
        rotation = try Bench(configuration, once: once, isRestart: !ofMachine).rotation
        rotation.handle(
            refused.map { .configuredAsBefore(configuration, refused: $0) } ?? .configured(configuration), at: now)
        if let refused { text = .success(.refused(refused)) }
        waiting = []
        forget()
        go()
    }

    func forget() {
        log = []
        works = []
        entries = []
        answers = [:]
    }

    // MARK: A fleet

    /// Puts a machine's report on `web`, as of some seconds ago by its clock.
    func report(
        _ machine: String, _ fingerprint: Fingerprint?, ago: Int64 = 0, delivered: Bool = true, failure: String? = nil
    ) {
        let at = now.wall - Seconds(ago)
        let holding = MachineReport.Holding(
            secret: fingerprint.map { SecretName($0) }, since: at, delivered: delivered, failure: failure)
        reports[machine] = ReportObservation(
            revision: (reports[machine]?.revision ?? 10_000) + 1,
            report: MachineReport(at: at, clients: [Values.identity: holding]))
    }

    /// What somebody is told who asks for the machines with the only client.
    func fleet(all: Bool = false) throws -> FleetClientView {
        forget()
        ask(.fleet(all: all))
        let view = try answer { if case .fleet(let view) = $0 { view } else { nil } }
        #expect(view.clients.count == 1)
        return try #require(view.clients.first)
    }

    /// How often the reports were read since ``forget()``.
    var readings: Int { works.count { if case .readReports = $0 { true } else { false } } }

    // MARK: What a test reads

    /// Of ``log`` what an observer sees: secrets made, records and files written, requests to Apple and actions. In which
    /// order it reads is the core's own affair.
    var effects: [String] {
        log.filter { words in !["read ", "recall ", "observe ", "receive ", "check "].contains { words.hasPrefix($0) } }
    }

    /// The files that were written since ``forget()``, in order.
    var written: [String] { logged("publish ") }

    /// The actions that were run since ``forget()``, and for whom, in order.
    var runs: [String] { logged("run ") }

    private func logged(_ verb: String) -> [String] {
        log.filter { $0.hasPrefix(verb) }.map { String($0.dropFirst(verb.count)) }
    }

    func view(_ name: String) throws -> ClientView {
        try #require(rotation.snapshot(at: now).clients.first { $0.name.description == name })
    }

    func current(_ name: String) throws -> SecretInfo? {
        rotation.current(of: try Values.name(name))
    }

    func renewed(_ name: String) throws -> RenewalOutcome {
        RenewalOutcome(client: try Values.name(name), result: .renewed(try #require(try current(name))))
    }

    func delivered(_ name: String) throws -> RenewalOutcome {
        RenewalOutcome(client: try Values.name(name), result: .delivered(try #require(try current(name))))
    }

    func failed(_ name: String, _ failure: Failure) throws -> RenewalOutcome {
        RenewalOutcome(client: try Values.name(name), result: .failed(failure.message))
    }

    func untouched(_ name: String) throws -> RenewalOutcome {
        RenewalOutcome(client: try Values.name(name), result: .untouched)
    }

    /// Why secrets were made since ``forget()``.
    var mintReasons: [MintReason] {
        entries.compactMap { if case .minted(_, _, let reason) = $0 { reason } else { nil } }
    }

    /// Places a secret in a file; nil places foreign content.
    func place(_ issued: SecretInfo?, in file: String, _ slot: FileSlot = .whole, otherLines: Bool = false) throws {
        var observation = disk[try Values.path(file)] ?? FileObservation(slots: [:])
        observation.slots[slot] = issued.map(SlotObservation.secret) ?? .foreign
        observation.otherLines = otherLines
        disk[try Values.path(file)] = observation
    }

    /// From now on writes of this file fail, and of no other.
    func failWrites(of file: String, _ code: Failure.Code = .diskFull) throws {
        failingWrites = [try Values.path(file): try Values.failure(code, file)]
    }

    /// Reports a change of a file and passes the debounce of two seconds.
    func debounce(_ file: String) throws {
        tell(.changeNoticed(.file(try Values.path(file))))
        pass(2)
    }

    func held(in file: String, _ slot: FileSlot = .whole) throws -> SecretInfo? {
        disk[try Values.path(file)]?.slots[slot]?.issued
    }

    /// Seconds until the next wake by either clock.
    var secondsToWake: Int64? {
        nextWake.map { ($0 - boot + 999) / 1000 }
    }

    // MARK: Inside

    private var nextWake: Int64? {
        let moments = [
            lastStep.wake.boot?.milliseconds, lastStep.wake.wall.map { ($0.secondsSinceEpoch - wallAtBoot) * 1000 },
        ]
        return moments.compactMap { $0 }.min()
    }

    private func finishAll() -> Bool {
        let open = waiting.filter { !held.contains($0.resource) }
        waiting.removeAll { !held.contains($0.resource) }
        for job in open {
            rotation.handle(.finished(job.id, carryOut(job)), at: now)
        }
        return !open.isEmpty
    }

    private func carryOut(_ job: Job) -> Result<Outcome, Failure> {
        if let failure = failures[job.resource] { return .failure(failure) }
        switch job.work {
        case .readConfiguration: return text
        case .checkConfiguration:
            if case .success(.configuration) = text { return .success(.passes) }
            return text
        case .readKey(let name, _):
            return prints[name].map { .success(.key($0)) } ?? .failure(Failure(.keyMissing, at: .key(name)))
        case .recall(let client, _):
            var record = records[client] ?? Record()
            // Few tests set a record's outputs; other records get the configured ones.
            if record != Record(), record.outputs.isEmpty, strange.isEmpty {
                record.outputs = rotation.configuration.clients[client]?.places ?? []
            }
            return .success(isStateReadOnly ? .recalledUnkept(record) : .recalled(record))
        case .readSource(let client, _): return .success(.source(sources[client] ?? .missing))
        case .readStore(let places):
            return .success(
                .storeRead(
                    Dictionary(uniqueKeysWithValues: places.map { ($0, store[$0] ?? .missing) }),
                    rollouts: rollouts.filter { places.contains($0.key) }))
        case .putRollout(_, let rollout, let place, let revision, let put):
            let found = rollouts[place]
            let secret = store[place] ?? .missing
            guard found.map(\.revision) ?? 0 == revision, put.map({ $0.revision == secret.revision }) ?? true else {
                return .success(.rolloutPut(.found(found, secret: put == nil ? nil : secret)))
            }
            storeRevision += 1
            rollouts[place] = .rollout(rollout, revision: storeRevision)
            if let put { store[place] = .secret(put.secret, revision: storeRevision) }
            return .success(.rolloutPut(.done(revision: storeRevision)))
        case .putInStore(_, let secret, let place, let revision):
            if let intruder {
                storeRevision += 1
                store[place] = .secret(intruder, revision: storeRevision)
            }
            let found = store[place] ?? .missing
            guard found.revision == revision else { return .success(.putInStore(.conflict(found))) }
            storeRevision += 1
            store[place] = .secret(secret, revision: storeRevision)
            return .success(.putInStore(.done(revision: storeRevision)))
        case .putReport(let report, let machine, let revision):
            let found = reports[machine]
            guard found?.revision ?? 0 == revision else { return .success(.reportPut(.found(found))) }
            storeRevision += 1
            reports[machine] = ReportObservation(revision: storeRevision, report: report, isOwn: true)
            return .success(.reportPut(.done(revision: storeRevision)))
        case .readReports: return .success(.reportsRead(reports))
        case .forgetReport(let machine, let revision):
            if let failingForgets { return .failure(failingForgets) }
            if reports[machine]?.revision == revision { reports[machine] = nil }
            return .success(.reportForgotten)
        case .observe(let spec): return .success(.observed(observe(spec)))
        case .mint(_, let key, let claims):
            minted += 1
            return .success(
                .minted(
                    SecretInfo(
                        SecretName(
                            Fingerprint(leadingBytes: minted), signed: Fingerprint(leadingBytes: minted)),
                        claims: claims, signer: prints[key])))
        case .keep(let client, let record):
            if isStateReadOnly { return .failure(Failure(.stateUnusable, at: .named("/state"))) }
            records[client] = record
            return .success(.kept(record))
        case .verify(let client, _): return verdicts[client] ?? .success(.accepted)
        case .publish(let spec, let secrets, let mayCreate, let overWriters):
            return publish(spec, secrets, mayCreate, overWriters)
        case .push(_, let secret, let output, _):
            places[output.target] = secret
            return .success(
                .pushed(
                    PushPlaceReading(
                        holds: blind.contains(output.target) ? nil : !stale.contains(output.target),
                        instead: instead[output.target], use: use[output.target])))
        case .readTarget(_, let secret, let output):
            return .success(
                .targetRead(
                    PushPlaceReading(
                        holds: blind.contains(output.target)
                            ? nil : !stale.contains(output.target) && places[output.target] == secret,
                        instead: instead[output.target], use: use[output.target])))
        case .run(.redeploy, _) where isDeploying: return .success(.deploying)
        case .run: return .success(.ran)
        case .probe: return .success(.feasible)
        case .tidyRecords: return .success(.tidied(orphans))
        case .recallReportedStates: return .success(.recalledReportedStates(reportedStates ?? ReportedStates()))
        case .keepReportedStates(let states):
            reportedStates = states
            return .success(.keptReportedStates(states))
        case .writeMetrics(let path, let content):
            metrics[path] = content
            return .success(.metricsWritten)
        case .removeMetrics(let path):
            metrics[path] = nil
            return .success(.metricsRemoved)
        }
    }

    private func observe(_ spec: FileSpec) -> FileObservation {
        disk[spec.path] ?? FileObservation(slots: [:], exists: false)
    }

    private func publish(
        _ spec: FileSpec, _ secrets: [FileSlot: SecretInfo], _ mayCreate: Bool, _ overWriters: Bool
    ) -> Result<Outcome, Failure> {
        if let failure = failingWrites[spec.path] { return .failure(failure) }
        if disk[spec.path] == nil, !mayCreate, spec.format.isShared {
            return .failure(Failure(.outputDeleted, at: .path(spec.path)))
        }
        if open.contains(spec.path), !overWriters { return .failure(Failure(.openForWriting, at: .path(spec.path))) }
        if let found = disk[spec.path], !mayCreate, spec.format.isShared, !found.otherLines, found.slots.isEmpty {
            return .failure(Failure(.outputEmptied, at: .path(spec.path)))
        }
        if strange.contains(spec.path), !mayCreate { return .failure(Failure(.outputForeign, at: .path(spec.path))) }
        var observation = disk[spec.path] ?? FileObservation(slots: [:])
        for (slot, issued) in secrets { observation.slots[slot] = .secret(issued) }
        observation.isAsConfigured = true
        observation = overwritten[spec.path] ?? observation
        disk[spec.path] = observation
        return .success(.published(observation))
    }

    /// Nil for background jobs, which have tests of their own.
    static func words(_ work: Work) -> String? {
        switch work {
        case .readConfiguration: "read configuration"
        case .checkConfiguration: "check configuration"
        case .readKey(let name, _): "read \(name)"
        case .recall(let client, _): "recall \(client)"
        case .readSource(let client, _): "receive \(client)"
        case .readStore: "read store"
        case .putInStore(let client, _, _, _): "share \(client)"
        case .putRollout(let client, let rollout, _, _, let secret):
            "\(secret == nil ? "" : "share \(client) and ")\(rollout.state == .held ? "hold" : "admit") \(client)"
        case .observe(let spec): "observe \(spec.path.name)"
        case .mint(let client, _, _): "mint \(client)"
        case .keep(let client, _): "keep \(client)"
        case .verify(let client, _): "verify \(client)"
        case .publish(let spec, _, _, _): "publish \(spec.path.name)"
        case .push(_, _, let output, _): "push \(output.target)"
        case .readTarget(_, _, let output): "ask \(output.target)"
        case .run(let action, let covering) where covering.isEmpty: "notify \(action.id)"
        case .recallReportedStates: "recall reported states"
        case .keepReportedStates: "keep reported states"
        case .tidyRecords, .probe, .putReport, .readReports, .forgetReport: nil
        case .writeMetrics(let path, .everything): "write \(path.name)"
        case .writeMetrics(let path, .times): "write times into \(path.name)"
        case .removeMetrics(let path): "remove \(path.name)"
        case .run(let action, let covering):
            "run \(action.id) for \(covering.keys.sorted().map(\.description).joined(separator: ", "))"
        }
    }
}
