import AppleClientSecret
package import Model
import Rotation
import TestSupport

/// One daemon: time, disk, keys, applications and deaths come from a seed, and every promise is checked at every step.
package final class Simulator: Daemon {
    /// Milliseconds by which the next wake comes too late, where that is the planted mistake.
    var oversleep: Int64 = 0
    /// Since when the clock has run without being set, as far as the daemon can know, in milliseconds of the boot clock.
    var clockSetAt: Int64 = 0
    var watch: Watch
    var stateChangeActions: NoticeWatch
    var verdicts = VerdictWatch()
    /// Jobs on files that hang.
    var stuck: [Job] = []
    package internal(set) var steps = 0

    package init(seed: UInt64, configuration: Configuration, sabotage: Sabotage? = nil) {
        watch = Watch(configuration)
        stateChangeActions = NoticeWatch(configuration)
        super.init(seed: seed, jitter: Double(seed % 101) / 100, Outside(configuration, sabotage: sabotage))
        schedule(.input(.configured(configuration)), after: 0)
    }

    var sabotage: Sabotage? { outside.sabotage }

    /// Whether the kernel calls the wall clock synchronised.
    package var isSynced: Bool {
        get { clocks.isSynced }
        set { clocks.isSynced = newValue }
    }

    // MARK: The loop

    override var wakesAt: Int64? { super.wakesAt.map { $0 + oversleep } }

    /// Targets that are merely to be read once more, or Apple that is to be asked once more, may wait for a day.
    override func restful(_ wake: Wake) -> Wake {
        guard let due = wake.boot, watch.isAtRest(at: boot), rotation.isIdle, onlyAsksAgain,
            stateChangeActions.isSettled(at: boot)
        else {
            return wake
        }
        return Wake(wall: wake.wall, boot: max(due, BootTime(milliseconds: plannedAt + 86_400_000)))
    }

    override func take(_ job: Job) throws {
        try watch.begin(job, self)
        try super.take(job)
    }

    override func heard(of job: Job, _ result: Result<Outcome, Failure>) -> Result<Outcome, Failure>? {
        guard let sabotage else { return result }
        return sabotage.twist(job, result)
    }

    override func hear(_ input: Input) {
        var isRepeated = false
        if case .finished(let id, .failure) = input { isRepeated = sabotage.map { watch.isRepeated(id, $0) } ?? false }
        super.hear(input)
        // A request that nobody made resets the pause.
        if isRepeated { rotation.handle(.asked(.renew(.init(deliverOnly: true)), nil), at: now) }
    }

    override func noteEnd(of id: JobID, _ result: Result<Outcome, Failure>) {
        guard let job = watch.jobs[id] else { return }
        if case .stateChangeAction(let name) = job.resource, case .run(let action, _) = job.work {
            stateChangeActions.finish(name, action, success: (try? result.get()) != nil)
        }
        verdicts.finish(job, result, isFormer: watch.former.contains(id), at: boot)
        for reader in watch.finish(id, result, rotation.configuration, at: now) { outside.reportRun(reader) }
    }

    // MARK: What happens to it

    /// Notes an event that affects all clients, or those that share a resource: time limits of promises start anew.
    package override func disturb(_ resource: Resource? = nil) {
        watch.disturb(resource, outside.configuration, at: boot)
        stateChangeActions.disturb(at: boot)
    }

    override func forget(byPowerCut isPowerCut: Bool) {
        stuck = []
        watch.forget()
        verdicts.forget()
        stateChangeActions.forget(keeping: outside.told, at: boot)
    }

    /// Not while its configuration would be refused.
    override func begin() {
        guard !outside.broken.isTextBad else { return schedule(.birth, after: 1000) }
        clockSetAt = boot
        super.begin()
    }

    package override func stepClock(by seconds: Int64) {
        stateChangeActions.setClock(isAlive: isAlive)
        if abs(seconds) > 60 { clockSetAt = boot }
        super.stepClock(by: seconds)
    }

    /// Suspends the machine: both clocks go on, nothing runs.
    package func suspend(for seconds: Int64) {
        say("== suspended for \(seconds) s")
        clocks.pass(until: boot + seconds * 1000)
        watch.sleep(for: seconds * 1000)
        if sabotage == .sleepsAfterSuspends { oversleep += seconds * 1000 }
        disturb()
    }

    package func reload(_ configuration: Configuration) {
        if !outside.broken.isTextBad { outside.configure(configuration) }
        ask(.reload)
    }

    override func note(_ request: DaemonRequest, _ requestID: RequestID) {
        watch.open[requestID] = boot
        guard case .renew(let renewal) = request else { return }
        if !renewal.deliverOnly { watch.forced.formUnion(whoIsRenewed(renewal)) }
        for (name, entry) in outside.configuration.clients
        where renewal.clients.isEmpty || renewal.clients.contains(name) {
            watch.asked.formUnion(entry.outputs.map(\.path))
        }
    }

    package override func loseRecords() {
        super.loseRecords()
        watch.keepsSince = nil
        stateChangeActions.forgetTold()
    }

    /// Ends every fault but a wrong clock; hung jobs go on.
    package func fix() {
        say("== fixed")
        doom = nil
        let returned = outside.away.map(Resource.file) + outside.configuration.files.keys.map(Resource.file)
        let keys = outside.broken.keys.keys.map(Resource.key)
        let wasTextBad = outside.broken.isTextBad
        outside.fix()
        for job in stuck { schedule(.effect(job), after: random.next() % 50) }
        stuck = []
        // The watcher reports a file or a key that is back, but nobody a disk that has room again.
        for resource in returned.sorted(by: { "\($0)" < "\($1)" }) where outside.returned(resource) {
            noteChange(resource)
        }
        for key in keys.sorted(by: { "\($0)" < "\($1)" }) { noteChange(key) }
        // Whoever has fixed the text may reload it, or only save it.
        if wasTextBad { if random.next() % 2 == 0 { ask(.reload) } else { noteChange(.configuration) } }
        disturb()
    }
}
