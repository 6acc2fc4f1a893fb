import AppleClientSecret
package import Model
package import Rotation
package import TestSupport

/// A core with a simulated executor: what a daemon alone and a machine of a fleet have in common.
///
/// Only data is exchanged with the core. Where the real loop passes a job to a worker thread, this one schedules an
/// effect and later an input at moments of its choosing, and may die between any two of them.
package class Daemon {
    package var random: SeededGenerator
    package let outside: Outside
    package internal(set) var rotation: Rotation
    /// From 0 to 1, the same at every start.
    let renewalJitter: Double
    var clocks = Clocks()
    var agenda = Agenda()
    var wake = Wake()
    /// When the last plan was made.
    var plannedAt: Int64
    private(set) var isAlive = true
    /// When the daemon was started last.
    private(set) var bornAt: Int64
    /// Where the daemon dies next.
    var doom: Boundary<Fault.Kind>?
    private var requests: UInt64 = 0
    /// What each line of the log says first.
    private let label: String
    /// Receives a line for each event.
    var log: ((String) -> Void)?

    /// The clock cannot be right before this moment.
    static let builtAt: Int64 = 1_700_000_000

    init(seed: UInt64, jitter: Double, _ outside: Outside, label: String = "", at boot: Int64 = 0) {
        random = SeededGenerator(seed: seed)
        self.outside = outside
        self.label = label
        renewalJitter = jitter
        plannedAt = boot
        bornAt = boot
        clocks.pass(until: boot)
        rotation = Self.newborn(seed, jitter, at: clocks.now.wall)
    }

    private static func newborn(_ seed: UInt64, _ jitter: Double, at wall: WallTime) -> Rotation {
        Rotation(
            seed: seed, renewalJitter: jitter, builtAt: WallTime(secondsSinceEpoch: builtAt), startedAt: wall,
            configurationPath: "/etc/clientsecretd/clientsecretd.yaml")
    }

    /// What time it is, as the daemon sees it.
    package var now: Now {
        guard outside.sabotage == .believesClocks else { return clocks.now }
        return Now(wall: clocks.now.wall, boot: clocks.now.boot, kernelSynced: true)
    }

    var boot: Int64 { clocks.boot }

    func schedule(_ event: Agenda.Event, after milliseconds: UInt64) {
        agenda.add(event, at: boot + Int64(milliseconds))
    }

    func say(_ text: @autoclosure () -> String) {
        guard let log else { return }
        log("\(now.wall) \(boot % 1000) \(label)\(text())")
    }

    // MARK: The loop

    /// When something happens next, in milliseconds of the boot clock.
    var nextMoment: Int64? { [agenda.nextMoment, wakesAt].compactMap(\.self).min() }

    /// When the core wakes by itself, in milliseconds of the boot clock; nil where it does not.
    var wakesAt: Int64? { isAlive ? clocks.moment(of: restful(wake)) : nil }

    /// A wake that may be late where nothing is to be done but to look again: otherwise nearly all of the time would be spent
    /// on looks that find nothing new.
    func restful(_ wake: Wake) -> Wake { wake }

    /// Lets everything happen that is due. Returns whether the core has heard of any of it, or wakes by itself, and has to
    /// plan.
    func happen(isWake: Bool) throws -> Bool {
        // While jobs are carried out, the core sleeps: it hears of their effects only once they have ended.
        var isAwake = isWake
        while let event = takeNext() {
            switch event {
            case .birth: begin()
            case .effect(let job):
                try take(job)
                continue
            case .input(let input): hear(input)
            }
            isAwake = true
        }
        return isAlive && isAwake
    }

    /// Removes the next event that is due.
    func takeNext() -> Agenda.Event? { agenda.takeNext(until: boot) }

    /// Has the core hear of something.
    func hear(_ input: Input) {
        say(Words.of(input))
        if case .finished(let id, let result) = input {
            noteEnd(of: id, result)
            outside.report(id)
        }
        rotation.handle(input, at: now)
    }

    /// Takes note of a job's end before the core hears of it.
    func noteEnd(of id: JobID, _ result: Result<Outcome, Failure>) {}

    func plan() -> Step {
        let step = rotation.plan(at: now)
        plannedAt = boot
        wake = outside.sabotage == .latesWakes ? step.wake.later(by: 40 * Scenario.day) : step.wake
        return step
    }

    /// What is wrong with the next wake, which has to lie in the future; nil for nothing.
    var problemOfWake: String? {
        let isOver = wake.wall.map { $0 <= now.wall } ?? false || wake.boot.map { $0 <= now.boot } ?? false
        return isOver ? "the next wake, \(wake), is not in the future" : nil
    }

    /// Carries out a job, and has the core hear of its result later.
    func take(_ job: Job) throws {
        guard let result = try carryOut(job), let heard = heard(of: job, result) else { return }
        schedule(.input(.finished(job.id, heard)), after: random.next() % 20)
    }

    /// What the core hears of a job's result, unless a planted mistake has it hear something else, or nothing.
    func heard(of job: Job, _ result: Result<Outcome, Failure>) -> Result<Outcome, Failure>? { result }

    /// Carries out a job; nil where the daemon dies right before it or right after.
    private func carryOut(_ job: Job) throws -> Result<Outcome, Failure>? {
        if dies(job, isAfter: false) { return nil }
        outside.api.clock = boot
        let result = outside.carryOut(job, &random)
        try carriedOut(job, result)
        // The watcher does not know who changed a file, so the daemon's own writes are reported too.
        if case .publish = job.work, outside.unreported[job.id] != nil {
            announce(.changeNoticed(job.resource), after: random.next() % 20)
        }
        return dies(job, isAfter: true) ? nil : result
    }

    /// Looks at what a job has done, before anybody hears of it.
    func carriedOut(_ job: Job, _ result: Result<Outcome, Failure>) throws {}

    private func dies(_ job: Job, isAfter: Bool) -> Bool {
        guard let doom, doom == Boundary(work: Fault.Kind(job.work), isAfter: isAfter) else { return false }
        outside.meet(.killed, doom)
        die(downFor: random.next() % 5000, byPowerCut: isAfter && random.next() % 2 == 0)
        return true
    }

    /// Has the daemon hear of something, unless that it does not is the planted mistake.
    private func announce(_ input: Input, after milliseconds: @autoclosure () -> UInt64 = 1) {
        if outside.sabotage?.hears(input) != false { schedule(.input(input), after: milliseconds()) }
    }

    // MARK: What happens to it

    /// Notes that something has happened, to all of it or to one thing.
    package func disturb(_ resource: Resource?) {}

    /// Kills the daemon, which loses everything that was not written; it is started again after a time.
    package func die(downFor milliseconds: UInt64 = 1, byPowerCut isPowerCut: Bool = false) {
        guard isAlive else { return }
        say("== \(isPowerCut ? "power cut" : "death"), for \(milliseconds) ms")
        if isPowerCut {
            outside.meet(.powerCut)
            outside.cutPower(&random)
        }
        isAlive = false
        doom = nil
        agenda.clear()
        outside.forget()
        forget(byPowerCut: isPowerCut)
        disturb(nil)
        schedule(.birth, after: milliseconds)
    }

    /// Forgets what dies with the daemon.
    func forget(byPowerCut isPowerCut: Bool) {}

    func begin() {
        isAlive = true
        bornAt = boot
        rotation = Self.newborn(random.next(), renewalJitter, at: now.wall)
        schedule(.input(.configured(outside.configuration)), after: 1)
        disturb(nil)
    }

    package func stepClock(by seconds: Int64) {
        say("== clock set by \(seconds) s")
        clocks.set(by: seconds)
        // The timer reports it at once.
        if isAlive { schedule(.input(.clockSet), after: 0) }
        disturb(nil)
    }

    /// Sends a request that has to be answered; a dead daemon takes none.
    package func ask(_ request: DaemonRequest) {
        guard isAlive else { return }
        requests += 1
        note(request, RequestID(number: requests))
        schedule(.input(.asked(request, RequestID(number: requests))), after: 1)
        disturb(nil)
    }

    /// Takes note of a request before it is sent.
    func note(_ request: DaemonRequest, _ requestID: RequestID) {}

    /// Reports a change, as the watcher does; a dead daemon hears nothing.
    package func noteChange(_ resource: Resource) {
        guard isAlive else { return }
        announce(.changeNoticed(resource))
        disturb(resource)
    }

    /// Loses the state directory's content, which a living daemon notices.
    package func loseRecords() {
        say("== state lost")
        outside.loseRecords()
        if isAlive { announce(.stateLost) }
    }
}
