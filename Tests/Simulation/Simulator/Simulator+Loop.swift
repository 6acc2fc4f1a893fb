import AppleClientSecret
import Rotation
import TestSupport

/// The loop, at whose every turn the promises are checked.
extension Simulator {
    /// Runs until this much time has passed, checking the invariants after every turn.
    package func run(for seconds: Int64) throws {
        let end = boot + seconds * 1000
        while let moment = nextMoment(), moment <= end {
            clocks.pass(until: moment)
            try step()
        }
        clocks.pass(until: end)
        try outside.check()
        try checkApplications()
    }

    private func nextMoment() -> Int64? {
        let event = agenda.nextMoment
        guard isAlive else { return event }
        let due = ([event].compactMap { $0 } + clocks.moments(of: wake)).min()
        guard oversleep > 0 else { return due }
        return [event, due.map { $0 + oversleep }].compactMap { $0 }.min()
    }

    private func step() throws {
        while let event = agenda.takeNext(until: boot) {
            switch event {
            case .birth: begin()
            case .effect(let job): try take(job)
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
                let lost = sabotage == .forgetsEmergencies ? watch.ordinaryWait(for: job, at: boot) : 0
                schedule(.effect(job), after: delay + UInt64(lost))
            } else {
                stuck.append(job)
            }
        }
        if log != nil { for line in turn.changes.compactMap(Words.of) { say(line) } }
        try watch.answered(sabotage == .losesAnswers ? [] : turn.answers, at: boot)
        try check(turn)
    }

    private func take(_ job: Job) throws {
        let kind = Fault.Kind(job.work)
        try watch.begin(job, self)
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
            for reader in watch.finish(id, result, rotation.world.configuration, at: boot) { outside.reportRun(reader) }
        }
        if sabotage == .retriesAtOnce, wasAction, case .finished(_, .failure) = fact {
            // The pause is forgotten, as by a notice that is none.
            rotation.absorb(fact, at: now)
            rotation.absorb(.asked(.renew(.init(deliverOnly: true)), nil), at: now)
            return
        }
        rotation.absorb(fact, at: now)
    }
}

extension Wake {
    func later(by seconds: Int64) -> Wake {
        Wake(wall: wall.map { $0 + Seconds(seconds) }, boot: boot)
    }
}
