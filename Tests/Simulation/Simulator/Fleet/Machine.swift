import AppleClientSecret
import Failures
import Model
import Rotation
import TestSupport

/// A machine of a fleet.
final class Machine: Daemon {
    let name: String
    let isSigner: Bool
    let mistake: FleetMistake?
    /// Receives each secret that it mints.
    var minted: ((SecretInfo) throws -> Void)?
    /// What comes of jobs on the store, and what the store tells of; apart, for it may take long and nothing waits for it.
    private var storeAgenda = Agenda()
    /// The fleet's store; nil where secrets are handed on by files.
    let board: Noticeboard?
    var link: StoreLink
    /// Puts that were not checked yet.
    var puts: [Put] = []
    /// How a signer lets machines deliver; nil where it lets them all.
    let rollout: RolloutConfiguration?
    /// Rollouts that it has put, or wanted to, and that were not checked yet.
    var rolloutPuts: [RolloutPut] = []
    /// What the store has told it since its start.
    private(set) var told = Told()
    /// The jobs on the store that are under way, with what it was told before, and what it is to be told then.
    private var questions: [JobID: (job: Job, told: Told, result: Result<Outcome, Failure>?)] = [:]
    /// What it was asked to do with the rollout of which secret, since its start.
    private(set) var orders: [(order: RolloutOrder, secret: Fingerprint?)] = []
    /// What it has done with secrets, and was not checked yet.
    var acts: [Act] = []
    /// The secret of the last action that has succeeded since its start.
    private(set) var lastRun: SecretInfo?
    /// Whether the living daemon knows no secret that its action was run for: its record was lost, or cannot be read.
    private(set) var isUnremembered = true
    /// When an action last succeeded, in this life or an earlier one.
    private(set) var ranAt: Int64 = 0
    /// When an action last failed, in this life or an earlier one.
    private(set) var failedAt: Int64 = -1
    /// When something last happened after which an action may run again for the same secret.
    private(set) var damagedAt: Int64 = 0
    /// By which its reports are told from those of others of the same name.
    private(set) var instance: UInt64
    private var instancedAt = Noticeboard.longAgo
    /// By how many milliseconds what is merely to be looked at again may be late.
    var rest: Int64 = 0
    /// When its report was last put.
    var reportedAt: Int64
    /// When the store has said something last.
    private var toldAt: Int64 = 0
    /// When something last happened to it, apart from what it is offered; in milliseconds of the boot clock.
    private(set) var disturbedAt: Int64
    /// When its disk, state, clock or keys last were, or ceased to be, other than they should be.
    private(set) var harmedAt: Int64
    /// When what it is offered last changed.
    private(set) var offeredAt: Int64
    /// When it was first started.
    let madeAt: Int64
    /// Whether a secret was asked for since the last one was minted.
    private(set) var isForced = false
    /// Outputs that another program has deleted, until they are there again.
    var deleted: Set<AbsolutePath> = []
    /// The secrets for which its action runs.
    private var runs: [JobID: SecretInfo] = [:]

    init(
        _ name: String, isSigner: Bool, keys: [Int], seed: UInt64, jitter: Double, at boot: Int64,
        mistake: FleetMistake?, board: Noticeboard?, rollout: RolloutConfiguration?
    ) {
        self.name = name
        self.isSigner = isSigner
        self.mistake = mistake
        self.board = board
        self.rollout = rollout
        link = StoreLink(at: boot)
        instance = seed
        reportedAt = boot
        madeAt = boot
        disturbedAt = boot
        harmedAt = boot
        offeredAt = boot
        let configuration = FleetScenario.configuration(
            isSigner: isSigner, keys: keys, storeMachine: board == nil ? nil : name, rollout: nil)
        super.init(
            seed: seed, jitter: jitter, Outside(configuration, sabotage: mistake?.sabotage), label: "\(name) ", at: boot
        )
        configure(keys)
        schedule(.input(.configured(outside.configuration)), after: 1)
    }

    var clientID: ClientID { FleetScenario.clientID }

    var entry: ClientConfiguration { sure(outside.configuration.clients[FleetScenario.client]) }

    /// The secret in force.
    var current: SecretInfo? { rotation.current(of: FleetScenario.client) }

    var view: ClientView? { rotation.snapshot(at: now).clients.first }

    /// Whether nothing is under way but what concerns the store.
    var isSettled: Bool { isAlive && agenda.isEmpty && rotation.runningJobs == questions.count }

    // MARK: The loop

    override var nextMoment: Int64? { [super.nextMoment, storeAgenda.nextMoment].compactMap(\.self).min() }

    override func restful(_ wake: Wake) -> Wake {
        guard rest > 0, let due = wake.boot else { return wake }
        // A report that can be put may not be late.
        let latest = link.isGood ? min(plannedAt + rest, reportedAt + 86_400_000) : plannedAt + rest
        return Wake(wall: wake.wall, boot: BootTime(milliseconds: max(due.milliseconds, latest)))
    }

    override func takeNext() -> Agenda.Event? {
        if let moment = storeAgenda.nextMoment, moment < agenda.nextMoment ?? .max {
            return storeAgenda.takeNext(until: boot)
        }
        return super.takeNext()
    }

    /// Does what is due now. Returns whether anything was.
    func advance() throws -> Bool {
        guard let next = nextMoment, next <= boot else { return false }
        if try happen(isWake: wakesAt.map { $0 <= boot } ?? false) { try start(plan()) }
        return true
    }

    override func noteEnd(of id: JobID, _ result: Result<Outcome, Failure>) {
        if let question = questions.removeValue(forKey: id), let result = question.result {
            told.learn(question.job, result, excluding: name, now)
        }
        if case .success(.ran) = result {
            outside.reportRun(FleetScenario.reader)
            if let secret = runs.removeValue(forKey: id) {
                lastRun = secret
                isUnremembered = false
                ranAt = boot
                if rollout != nil { acts.append(.ended(secret)) }
            }
        } else if case .failure = result, runs.removeValue(forKey: id) != nil {
            failedAt = boot
        }
    }

    private func start(_ step: Step) throws {
        if let problem = rotation.checkInvariants().first { throw FleetViolation(.state, problem) }
        if let problem = problemOfWake { throw FleetViolation(.state, problem) }
        for job in step.start {
            say(Words.of(job))
            if board != nil, Self.isOnStore(job.work) {
                begin(job)
                continue
            }
            if case .run(_, let covering) = job.work, let secret = covering[FleetScenario.client]?.issued {
                runs[job.id] = secret
                if board != nil { noteDelivery(secret) }
            }
            if let delay = outside.delay(of: job, &random) { schedule(.effect(job), after: delay) }
        }
        for case .faultRaised(let failure) in step.changes where failure.code == .storeMachineShared {
            try checkImposture()
        }
        if log != nil { for line in step.changes.compactMap(Words.of) { say(line) } }
    }

    /// Begins a job on the store.
    private func begin(_ job: Job) {
        questions[job.id] = (job, told, nil)
        var delay = link.delay(at: boot, &random)
        if case .readStore = job.work {
            link.askedAt = boot
            if mistake == .mintsBeforeStoreAnswers, link.seen == nil { delay += 25_000 }
        }
        storeAgenda.add(.effect(job), at: boot + Int64(delay))
    }

    private func take(_ job: Job, on board: Noticeboard) {
        let step = StoreLink.Step(job.work)
        if let step, link.doom == .init(work: step, isAfter: false) { return die(downFor: random.next() % 5000) }
        if let question = questions[job.id] { noteIntent(job.work, question.told) }
        let result = carryOut(job.work, on: board)
        questions[job.id]?.result = result
        if let step, link.doom == .init(work: step, isAfter: true) { return die(downFor: random.next() % 5000) }
        if let heard = heard(of: job, result) { tell(.finished(job.id, heard)) }
    }

    /// Has the store say something, or a job on it end, after everything that it has said before.
    func tell(_ input: Input, within milliseconds: UInt64 = 20) {
        toldAt = max(toldAt, boot + Int64(random.next() % milliseconds))
        storeAgenda.add(.input(input), at: toldAt)
    }

    /// Nobody is accused of sharing a name who does not.
    private func checkImposture() throws {
        guard let board else { return }
        // What has happened since it last put its report is found late by a machine that has not reached the store since.
        let since = min(reportedAt, boot - 100_000_000)
        if board.impostureAt[name] ?? Noticeboard.longAgo < since, instancedAt < since {
            throw FleetViolation(.honest, "\(name) is said to share its name, and shares it with nobody")
        }
    }

    override func take(_ job: Job) throws {
        if let board, Self.isOnStore(job.work) { return take(job, on: board) }
        if mistake == .holdsPastDeadline, case .run = job.work, !isAdmitted { return }
        try super.take(job)
    }

    override func heard(of job: Job, _ result: Result<Outcome, Failure>) -> Result<Outcome, Failure>? {
        if case .recall = job.work, case .success(.recalled(let record)) = result,
            record.delivered[FleetScenario.action.id] != nil
        {
            isUnremembered = false
        }
        guard let mistake else { return result }
        return mistake.twist(job, result, self)
    }

    override func carriedOut(_ job: Job, _ result: Result<Outcome, Failure>) throws {
        if let violation = outside.violation { throw FleetViolation(.state, violation.text) }
        guard case .success(.minted(let secret)) = result else { return }
        try minted?(secret)
        isForced = false
    }

    override func begin() {
        link.begin(at: boot)
        told = Told(remembering: outside.records[FleetScenario.client])
        orders = []
        lastRun = nil
        isUnremembered = true
        super.begin()
        if mistake == .renewsAtStart {
            schedule(.input(.asked(.renew(.init()), nil)), after: 30_000)
        }
    }

    // MARK: What happens to it

    /// What befalls one thing alone is noted as ``harm()``, where it is any.
    override func disturb(_ resource: Resource?) {
        if resource == nil { disturbedAt = boot }
    }

    /// Notes that something of the machine's is broken, or is not any more.
    func harm() {
        disturbedAt = boot
        harmedAt = boot
        if outside.broken.isDamaging { damagedAt = boot }
    }

    override func forget(byPowerCut isPowerCut: Bool) {
        if isPowerCut { damagedAt = boot }
        storeAgenda.clear()
        questions = [:]
        runs = [:]
    }

    override func stepClock(by seconds: Int64) {
        super.stepClock(by: seconds)
        harm()
    }

    /// Has it use these keys, in the order of preference, from its next reload on.
    private func configure(_ keys: [Int]) {
        for key in keys { outside.swapKey(FleetScenario.name(key), number: key) }
        var rollout = rollout
        if mistake == .forgetsPause { rollout?.pause = 1 }
        outside.configure(
            FleetScenario.configuration(
                isSigner: isSigner, keys: keys, storeMachine: board == nil ? nil : name, rollout: rollout))
    }

    func reload(keys: [Int]) {
        configure(keys)
        ask(.reload)
        harm()
    }

    override func note(_ request: DaemonRequest, _ requestID: RequestID) {
        if case .renew = request { isForced = true }
        if case .rollout(_, let order) = request { orders.append((order, current?.fingerprint)) }
    }

    /// Another program puts something where the machine looks for its secrets, or removes it.
    func offer(_ offer: Offer?) {
        guard offer != outside.offer else { return }
        say("== is offered \(offer.map { "\($0)".prefix(90).description } ?? "nothing")")
        outside.offer = offer
        offeredAt = boot
        if mistake != .losesNotices { noteChange(.source(FleetScenario.client)) }
    }

    override func loseRecords() {
        super.loseRecords()
        instance = random.next()
        instancedAt = boot
        harm()
    }

    /// Another program deletes an output, or overwrites it.
    func damage(_ output: Output, isDeleted: Bool) {
        if isDeleted {
            outside.delete(output.path)
            deleted.insert(output.path)
        } else {
            outside.overwrite(output.path, with: .foreign)
        }
        noteChange(.file(output.path))
        damagedAt = boot
        harm()
    }

    /// Ends every fault.
    func fix() {
        doom = nil
        let returned = outside.configuration.files.keys.sorted().filter { outside.files[$0] == nil }
        let keys = outside.broken.keys.keys.sorted()
        let wasBroken = outside.broken != Broken()
        if wasBroken { harm() }
        outside.fix()
        fixLink()
        for path in returned { noteChange(.file(path)) }
        for key in keys { noteChange(.key(key)) }
        if wasBroken || !returned.isEmpty { harm() }
        clocks.isSynced = true
        if clocks.error != 0 { stepClock(by: -clocks.error) }
    }

    /// What only a planted mistake does: to copy what is offered without a look at it.
    func copyIntoOutputs(_ observation: SlotObservation?) {
        for output in FleetScenario.outputs {
            guard outside.files[output.path] != nil else { continue }
            outside.files[output.path]?.slots[output.slot] = observation
        }
    }
}
