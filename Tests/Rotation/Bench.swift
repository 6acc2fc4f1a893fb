import AppleClientSecret
import Testing

@testable import Rotation

/// A core on the bench: facts are handed to it one by one, its jobs are answered from a small world that the test
/// arranges, and what it did can be read off ``log``.
final class Bench {
    private(set) var rotation: Rotation
    private(set) var boot: Int64 = 5_000_000
    /// What the wall clock showed when the machine was switched on.
    private var wallAtBoot = Values.start - 5000
    var isSynced = true

    /// What looks see; a path that is missing here has no file.
    var disk: [AbsolutePath: Look] = [:]
    var records: [ClientName: Record] = [:]
    var told: Told?
    /// What looking for former outputs finds.
    var orphans: [OrphanedOutput] = []
    /// The keys as they lie on the disk; a key that is missing here cannot be read.
    var prints: [KeyName: KeyPrint] = [:]
    /// What the next reading of the configuration finds.
    var text: Result<Outcome, Trouble>
    /// Jobs on these resources fail.
    var failures: [Resource: Trouble] = [:]
    /// Writes of these files fail; looking at them works.
    var failingWrites: [AbsolutePath: Trouble] = [:]
    /// What is found in these files right after they were written, in place of that.
    var overwritten: [AbsolutePath: Look] = [:]
    /// Jobs on these resources do not end until ``release(_:)``.
    var held: Set<Resource> = []

    /// What was started since ``forget()``, in words.
    private(set) var log: [String] = []
    private(set) var works: [Work] = []
    private(set) var entries: [Entry] = []
    private(set) var answers: [Ticket: Answer] = [:]
    /// What the credential socket would hand out.
    private(set) var served: [ClientName: Issued] = [:]
    private(set) var turn = Turn()
    private var waiting: [Job] = []
    private var minted: UInt64 = 1000
    /// Far more than there are steps on a secret's way.
    private static let mostRounds = 200

    init(_ configuration: Configuration, once: Bool = false, hostJitter: Double = 0, builtAt: Int64 = -365 * Values.day)
        throws
    {
        rotation = Rotation(
            seed: 7, hostJitter: hostJitter, builtAt: Values.moment(builtAt), startedAt: Values.moment(0),
            configurationPath: "/etc/clientsecretd/clientsecretd.yaml", once: once)
        text = .success(.configuration(configuration))
        for name in configuration.keys.keys { prints[name] = try Values.print("1") }
        rotation.absorb(.configured(configuration), at: now)
    }

    var now: Now {
        Now(
            wall: WallTime(secondsSinceEpoch: wallAtBoot + boot / 1000), boot: BootTime(milliseconds: boot),
            kernelSynced: isSynced)
    }

    // MARK: What a test does

    /// Plans and answers until nothing is to be done at this moment.
    func go() {
        var rounds = 0
        repeat {
            rounds += 1
            guard rounds <= Self.mostRounds else {
                Issue.record("still at it after \(Self.mostRounds) rounds at one moment: \(log.suffix(4))")
                return
            }
            turn = rotation.plan(at: now)
            entries += turn.changes
            for (ticket, answer) in turn.answers { answers[ticket] = answer }
            for change in turn.served { served[change.client] = change.secret }
            for job in turn.start {
                if let words = Self.words(job.work) { log.append(words) }
                works.append(job.work)
                waiting.append(job)
            }
        } while finishAll()
    }

    func tell(_ fact: Fact) {
        rotation.absorb(fact, at: now)
        go()
    }

    func ask(_ request: Request, _ number: UInt64 = 1) {
        tell(.asked(request, Ticket(number: number)))
    }

    func answer(_ number: UInt64 = 1) -> Answer? {
        answers[Ticket(number: number)]
    }

    /// Adopts a configuration as a reload does.
    func reload(_ configuration: Configuration, _ number: UInt64 = 1) {
        text = .success(.configuration(configuration))
        ask(.reload, number)
    }

    /// Lets both clocks run, with a plan at every wake on the way.
    func pass(_ seconds: Int64) {
        let end = boot + seconds * 1000
        while let next = nextWake, next <= end {
            boot = max(boot, next)
            go()
        }
        boot = end
    }

    /// Lets both clocks run by a part of a second.
    func boot(after milliseconds: Int64) {
        boot += milliseconds
        go()
    }

    /// Sets the wall clock, which nobody else sees.
    func step(_ seconds: Int64) {
        wallAtBoot += seconds
        tell(.clockSet)
    }

    func release(_ resource: Resource) {
        held.remove(resource)
        _ = finishAll()
        go()
    }

    /// Lets the job that is held on this resource fail, and that one alone.
    func fail(_ resource: Resource, _ trouble: Trouble) {
        failures[resource] = trouble
        held.remove(resource)
        _ = finishAll()
        failures[resource] = nil
        go()
    }

    /// Starts anew with what lies on the disk, as after a kill.
    ///
    /// - Parameter refused: what is wrong with the text that lies there, where the configuration is the last adopted one.
    func restart(_ configuration: Configuration, refused: [String]? = nil) throws {
        rotation = try Bench(configuration).rotation
        rotation.absorb(
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

    // MARK: What a test reads

    func view(_ name: String) throws -> ClientView {
        try #require(rotation.snapshot(at: now).clients.first { $0.name.description == name })
    }

    func current(_ name: String) throws -> Issued? {
        rotation.world.clients[try Values.name(name)]?.current
    }

    func renewed(_ name: String) throws -> RenewalOutcome {
        RenewalOutcome(client: try Values.name(name), result: .renewed(try #require(try current(name))))
    }

    func delivered(_ name: String) throws -> RenewalOutcome {
        RenewalOutcome(client: try Values.name(name), result: .delivered(try #require(try current(name))))
    }

    func failed(_ name: String, _ trouble: Trouble) throws -> RenewalOutcome {
        RenewalOutcome(client: try Values.name(name), result: .failed(trouble.message))
    }

    func untouched(_ name: String) throws -> RenewalOutcome {
        RenewalOutcome(client: try Values.name(name), result: .untouched)
    }

    /// Why secrets were made since ``forget()``.
    var mintReasons: [MintReason] {
        entries.compactMap { if case .minted(_, _, let reason) = $0 { reason } else { nil } }
    }

    /// Places a secret in a file, or something that is none.
    func place(_ issued: Issued?, in file: String, _ slot: Slot = .whole, otherLines: Bool = false) throws {
        var look = disk[try Values.path(file)] ?? Look(slots: [:])
        look.slots[slot] = issued.map(Sighting.secret) ?? .foreign
        look.otherLines = otherLines
        disk[try Values.path(file)] = look
    }

    /// Lets writes of this file alone fail from now on.
    func failWrites(of file: String, _ code: Trouble.Code = .diskFull) throws {
        failingWrites = [try Values.path(file): try Values.trouble(code, file)]
    }

    /// Gives notice of a file, and the two seconds of quiet after which it is looked at.
    func stir(_ file: String) throws {
        tell(.stirred(.file(try Values.path(file))))
        pass(2)
    }

    func held(in file: String, _ slot: Slot = .whole) throws -> Issued? {
        disk[try Values.path(file)]?.slots[slot]?.issued
    }

    /// Seconds until the next wake by either clock.
    var secondsToWake: Int64? {
        nextWake.map { ($0 - boot + 999) / 1000 }
    }

    // MARK: Inside

    private var nextWake: Int64? {
        let moments = [turn.wake.boot?.milliseconds, turn.wake.wall.map { ($0.secondsSinceEpoch - wallAtBoot) * 1000 }]
        return moments.compactMap { $0 }.min()
    }

    private func finishAll() -> Bool {
        let open = waiting.filter { !held.contains($0.resource) }
        waiting.removeAll { !held.contains($0.resource) }
        for job in open {
            rotation.absorb(.finished(job.id, carryOut(job)), at: now)
        }
        return !open.isEmpty
    }

    private func carryOut(_ job: Job) -> Result<Outcome, Trouble> {
        if let trouble = failures[job.resource] { return .failure(trouble) }
        switch job.work {
        case .readConfiguration: return text
        case .checkConfiguration:
            if case .success(.configuration) = text { return .success(.passes) }
            return text
        case .readKey(let name, _):
            return prints[name].map { .success(.key($0)) } ?? .failure(Trouble(.keyMissing, at: .key(name)))
        case .recall(let client):
            var record = records[client] ?? Record()
            // Tests name outputs in a record only where it is about them.
            if record != Record(), record.outputs.isEmpty {
                record.outputs = rotation.world.configuration.clients[client]?.places ?? []
            }
            return .success(.recalled(record))
        case .look(let spec): return .success(.seen(look(spec)))
        case .mint(_, let key, let claims):
            minted += 1
            return .success(
                .minted(Issued(fingerprint: Fingerprint(leadingBytes: minted), claims: claims, signer: prints[key])))
        case .keep(let client, let record):
            records[client] = record
            return .success(.kept(record))
        case .publish(let spec, let secrets, let mayCreate): return publish(spec, secrets, mayCreate)
        case .run: return .success(.ran)
        case .probe: return .success(.feasible)
        case .tidyRecords: return .success(.tidied(orphans))
        case .recallTold: return .success(.recalledTold(told ?? Told()))
        case .keepTold(let told):
            self.told = told
            return .success(.keptTold(told))
        }
    }

    private func look(_ spec: FileSpec) -> Look {
        disk[spec.path] ?? Look(slots: [:], exists: false)
    }

    private func publish(
        _ spec: FileSpec, _ secrets: [Slot: Issued], _ mayCreate: Bool
    ) -> Result<Outcome, Trouble> {
        if let trouble = failingWrites[spec.path] { return .failure(trouble) }
        if disk[spec.path] == nil, !mayCreate {
            return .failure(Trouble(.environmentFileDeleted, at: .path(spec.path)))
        }
        var look = disk[spec.path] ?? Look(slots: [:])
        for (slot, issued) in secrets { look.slots[slot] = .secret(issued) }
        look.isAsConfigured = true
        look = overwritten[spec.path] ?? look
        disk[spec.path] = look
        return .success(.published(look))
    }

    /// Nil for what goes on beside everything and is tried by itself.
    static func words(_ work: Work) -> String? {
        switch work {
        case .readConfiguration: "read configuration"
        case .checkConfiguration: "check configuration"
        case .readKey(let name, _): "read \(name)"
        case .recall(let client): "recall \(client)"
        case .look(let spec): "look \(spec.path.name)"
        case .mint(let client, _, _): "mint \(client)"
        case .keep(let client, _): "keep \(client)"
        case .publish(let spec, _, _): "publish \(spec.path.name)"
        case .run(let action, let covering) where covering.isEmpty: "tell \(action.id)"
        case .recallTold: "recall told"
        case .keepTold: "keep told"
        case .tidyRecords, .probe: nil
        case .run(let action, let covering):
            "run \(action.id) for \(covering.keys.sorted().map(\.description).joined(separator: ", "))"
        }
    }
}
