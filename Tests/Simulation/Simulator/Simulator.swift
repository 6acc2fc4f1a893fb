import AppleClientSecret
package import Rotation
package import TestSupport

/// The daemon's loop with simulated hands: time, disk, keys, applications and deaths come from a seed.
///
/// The seam is data. Where the real loop hands a job to a worker thread, this one schedules an effect and then a fact at
/// moments of its choosing, and may die between any two of them.
package final class Simulator {
    package var random: SeededGenerator
    package let outside: Outside
    package internal(set) var rotation: Rotation
    let sabotage: Sabotage?
    /// From 0 to 1, the same at every start.
    let hostJitter: Double

    /// Milliseconds since the machine was switched on; a suspend counts.
    private(set) var boot: Int64 = 0
    /// What the wall clock shows when ``boot`` is zero.
    private var wallAtBoot: Int64 = 1_800_000_000
    /// By how much the wall clock is wrong.
    private(set) var clockError: Int64 = 0
    package var isSynced = true
    private(set) var wake = Wake()
    /// By how much the next wake comes too late, where that is what was planted.
    private var oversleep: Int64 = 0
    private(set) var isAlive = true
    /// Where the daemon dies next.
    var doom: Fault.Boundary?
    var watch: Watch
    var notices: NoticeWatch
    /// Jobs on files that hang.
    private(set) var stuck: [Job] = []
    package private(set) var turns = 0
    private(set) var deaths = 0
    private var tickets: UInt64 = 0
    /// Told what happens, line by line.
    var log: ((String) -> Void)?

    private enum Event {
        case effect(Job)
        case fact(Fact)
        case birth
    }

    var hasNoEvents: Bool { events.isEmpty }

    private var events: [(at: Int64, event: Event)] = []

    /// The clock cannot be right before this moment.
    static let builtAt: Int64 = 1_700_000_000

    package init(seed: UInt64, configuration: Configuration, sabotage: Sabotage? = nil) {
        random = SeededGenerator(seed: seed)
        outside = Outside(configuration, sabotage: sabotage)
        self.sabotage = sabotage
        hostJitter = Double(seed % 101) / 100
        rotation = Self.newborn(seed: seed, hostJitter, at: wallAtBoot)
        watch = Watch(configuration)
        notices = NoticeWatch(configuration)
        schedule(.fact(.configured(configuration)), after: 0)
    }

    package var now: Now {
        Now(
            wall: WallTime(secondsSinceEpoch: wallAtBoot + boot / 1000), boot: BootTime(milliseconds: boot),
            kernelSynced: isSynced)
    }

    private static func newborn(seed: UInt64, _ hostJitter: Double, at wall: Int64) -> Rotation {
        Rotation(
            seed: seed, hostJitter: hostJitter, builtAt: WallTime(secondsSinceEpoch: builtAt),
            startedAt: WallTime(secondsSinceEpoch: wall), configurationPath: "/etc/clientsecretd/clientsecretd.yaml")
    }

    // MARK: What happens to it

    /// Kills the daemon, which loses everything that was not written; it is started again after a time, but not with a
    /// configuration that does not pass.
    package func die(downFor milliseconds: UInt64 = 1, byPowerCut isPowerCut: Bool = false) {
        guard isAlive else { return }
        say("== \(isPowerCut ? "power cut" : "death"), for \(milliseconds) ms")
        if isPowerCut { outside.cutPower(&random) }
        deaths += 1
        isAlive = false
        doom = nil
        events = []
        stuck = []
        outside.forget()
        watch.forget()
        notices.forget(keeping: outside.told, at: boot)
        disturb()
        schedule(.birth, after: milliseconds)
    }

    private func begin() {
        guard !outside.broken.isTextBad else {
            schedule(.birth, after: 1000)
            return
        }
        isAlive = true
        rotation = Self.newborn(seed: random.next(), hostJitter, at: now.wall.secondsSinceEpoch)
        schedule(.fact(.configured(outside.configuration)), after: 1)
        disturb()
    }

    package func stepClock(by seconds: Int64) {
        say("== clock set by \(seconds) s")
        notices.setClock(isAlive: isAlive)
        wallAtBoot += seconds
        clockError += seconds
        // The timer tells of it at once.
        if isAlive { schedule(.fact(.clockSet), after: 0) }
        disturb()
    }

    /// Sleeps: both clocks go on, nothing runs.
    package func suspend(for seconds: Int64) {
        say("== suspended for \(seconds) s")
        boot += seconds * 1000
        watch.sleep(for: seconds * 1000)
        if sabotage == .sleepsAfterSuspends { oversleep += seconds * 1000 }
        disturb()
    }

    package func reload(_ configuration: Configuration) {
        if !outside.broken.isTextBad { outside.configure(configuration) }
        ask(.reload)
    }

    /// Asks as somebody who waits for the answer does.
    package func ask(_ request: Request) {
        guard isAlive else { return }
        tickets += 1
        let ticket = Ticket(number: tickets)
        watch.asked(ticket, at: boot)
        if case .renew(let renewal) = request, !renewal.deliverOnly { watch.forced.formUnion(whoIsRenewed(renewal)) }
        schedule(.fact(.asked(request, ticket)), after: 1)
        disturb()
    }

    /// Gives notice, as the watch does; a dead daemon hears nothing.
    package func notice(_ resource: Resource) {
        guard isAlive else { return }
        if sabotage?.hears(.stirred(resource)) != false { schedule(.fact(.stirred(resource)), after: 1) }
        disturb(resource)
    }

    /// Loses the state directory's content.
    package func loseRecords() {
        say("== state lost")
        outside.loseRecords()
        notices.forgetTold()
    }

    /// Ends every fault but a wrong clock; what hung goes on.
    package func mend() {
        say("== mended")
        doom = nil
        let returned = outside.away.map(Resource.file) + outside.configuration.files.keys.map(Resource.file)
        let keys = outside.broken.keys.keys.map(Resource.key)
        let wasTextBad = outside.broken.isTextBad
        outside.mend()
        for job in stuck { schedule(.effect(job), after: random.next() % 50) }
        stuck = []
        // Of a file or a key that is back the watch tells; of a disk that has room again nobody does.
        for resource in returned.sorted(by: { "\($0)" < "\($1)" }) where outside.returned(resource) { notice(resource) }
        for key in keys.sorted(by: { "\($0)" < "\($1)" }) { notice(key) }
        // Whoever has mended it may reload, or only save it.
        if wasTextBad { if random.next() % 2 == 0 { ask(.reload) } else { notice(.configuration) } }
        disturb()
    }

    /// Notes that something has happened to everybody, or to whoever shares a resource: what is promised takes its time.
    package func disturb(_ resource: Resource? = nil) {
        watch.disturb(resource, outside.configuration, at: boot)
        notices.disturb(at: boot)
    }

    // MARK: The loop

    /// Runs until this much time has passed, checking the invariants after every turn.
    package func run(for seconds: Int64) throws {
        let end = boot + seconds * 1000
        while let moment = nextMoment(), moment <= end {
            boot = max(boot, moment)
            try step()
        }
        boot = end
        try outside.check()
        try checkApplications()
    }

    private func nextMoment() -> Int64? {
        guard isAlive else { return events.first?.at }
        var moments = events.first.map { [$0.at] } ?? []
        if let due = wake.boot { moments.append(due.milliseconds) }
        if let due = wake.wall { moments.append((due.secondsSinceEpoch - wallAtBoot) * 1000) }
        guard oversleep > 0 else { return moments.min() }
        return [events.first?.at, moments.min().map { $0 + oversleep }].compactMap { $0 }.min()
    }

    private func step() throws {
        while let next = events.first, next.at <= boot {
            events.removeFirst()
            switch next.event {
            case .birth: begin()
            case .effect(let job): take(job)
            case .fact(let fact): hear(fact)
            }
        }
        guard isAlive else { return try outside.check() }
        let turn = rotation.plan(at: now)
        oversleep = 0
        turns += 1
        wake = sabotage == .latesWakes ? turn.wake.later(by: 40 * 86_400) : turn.wake
        if sabotage == .repeatsWakes, turns % 50 == 0 { wake.wall = now.wall }
        for job in turn.start {
            say(Words.of(job))
            try watch.start(job, self)
            if let id = job.resource.notice { try notices.start(id, isAged: hasAged, at: now) }
            if let delay = outside.delay(of: job, &random) {
                schedule(.effect(job), after: delay)
            } else {
                stuck.append(job)
            }
        }
        if log != nil { for line in turn.changes.compactMap(Words.of) { say(line) } }
        try watch.answered(sabotage == .losesAnswers ? [] : turn.answers, at: boot)
        try check(turn)
    }

    private func take(_ job: Job) {
        let kind = Fault.Kind(job.work)
        if let doom, doom == Fault.Boundary(work: kind, isAfter: false) {
            outside.meet(.killed(doom))
            return die(downFor: random.next() % 5000)
        }
        let result = outside.carryOut(job, &random)
        // The watch does not know who has changed a file.
        if case .publish = job.work, outside.unreported[job.id] != nil, sabotage?.hears(.stirred(job.resource)) != false
        {
            schedule(.fact(.stirred(job.resource)), after: random.next() % 20)
        }
        if let doom, doom == Fault.Boundary(work: kind, isAfter: true) {
            outside.meet(.killed(doom))
            let isPowerCut = random.next() % 2 == 0
            if isPowerCut { outside.meet(.powerCut) }
            return die(downFor: random.next() % 5000, byPowerCut: isPowerCut)
        }
        if sabotage == .losesActionResults, kind == .run, job.resource.notice == nil { return }
        if sabotage == .losesNoticeResults, job.resource.notice != nil { return }
        schedule(.fact(.finished(job.id, sabotage?.twist(job, result) ?? result)), after: random.next() % 20)
    }

    private func hear(_ fact: Fact) {
        say(Words.of(fact))
        var wasAction = false
        if case .finished(let id, let result) = fact {
            wasAction = watch.isAction(id)
            outside.report(id)
            if let job = watch.job(id), case .notice(let name) = job.resource, case .run(let action, _) = job.work {
                notices.finish(name, action, success: (try? result.get()) != nil)
            }
            for reader in watch.finish(id, result, at: boot) { outside.reportRun(reader) }
        }
        if sabotage == .retriesAtOnce, wasAction, case .finished(_, .failure) = fact {
            // The pause is forgotten, as by a notice that is none.
            rotation.absorb(fact, at: now)
            rotation.absorb(.asked(.renew(.init(deliverOnly: true)), nil), at: now)
            return
        }
        rotation.absorb(fact, at: now)
    }

    private func schedule(_ event: Event, after milliseconds: UInt64) {
        let moment = boot + Int64(milliseconds)
        let index = events.firstIndex { $0.at > moment } ?? events.endIndex
        events.insert((moment, event), at: index)
    }

    func say(_ text: @autoclosure () -> String) {
        guard let log else { return }
        log("\(now.wall) \(boot % 1000) \(text())")
    }
}

extension Wake {
    func later(by seconds: Int64) -> Wake {
        Wake(wall: wall.map { $0 + Seconds(seconds) }, boot: boot)
    }
}
