import AppleClientSecret
import Model
import Rotation
import TestSupport

/// The loop, which checks the promises at every step.
extension Simulator {
    /// Runs until so many seconds have passed, checking the invariants after every step.
    package func run(for seconds: Int64) throws {
        let end = boot + seconds * 1000
        while let moment = nextMoment, moment <= end {
            let wakesAt = wakesAt
            clocks.pass(until: moment)
            try step(isWake: wakesAt.map { $0 <= boot } ?? false)
        }
        clocks.pass(until: end)
        try outside.check()
        try checkVerdicts()
        try checkApplications()
    }

    private var nextMoment: Int64? { [agenda.nextMoment, wakesAt].compactMap(\.self).min() }

    /// When the core wakes by itself, in milliseconds of the boot clock; nil where it does not.
    private var wakesAt: Int64? { isAlive ? clocks.moment(of: restful(wake)).map { $0 + oversleep } : nil }

    /// A wake that may be a day late where targets are merely to be read once more, or Apple to be asked once more:
    /// otherwise nearly all of the time would be spent on requests that find nothing new.
    private func restful(_ wake: Wake) -> Wake {
        guard let due = wake.boot, watch.isAtRest(at: boot), rotation.isIdle, onlyAsksAgain,
            stateChangeActions.isSettled(at: boot)
        else {
            return wake
        }
        return Wake(wall: wake.wall, boot: max(due, BootTime(milliseconds: plannedAt + 86_400_000)))
    }

    /// Whether all is well where there are targets, or Apple alone fails, and has said so of every secret.
    private var onlyAsksAgain: Bool {
        let failing = rotation.failures.keys
        guard !failing.isEmpty else { return watch.pushes && rotation.snapshot(at: now).health == .ok }
        return watch.mintsNothing(at: boot) && failing.allSatisfy { if case .verification = $0 { true } else { false } }
    }

    private func step(isWake: Bool) throws {
        // While jobs are carried out, the core sleeps: it hears of their effects only once they have ended.
        var isAwake = isWake
        while let event = agenda.takeNext(until: boot) {
            switch event {
            case .birth: begin()
            case .effect(let job):
                try take(job)
                continue
            case .input(let input): hear(input)
            }
            isAwake = true
        }
        guard isAlive, isAwake else { return try outside.check() }
        let step = plan()
        oversleep = 0
        steps += 1
        if sabotage == .repeatsWakes, steps % 50 == 0 { wake.wall = now.wall }
        for job in step.start {
            say(Words.of(job))
            try checkClock(job)
            if case .verify(let client, _) = job.work {
                let quiet = watch.open.isEmpty ? watch.quiet(client, at: boot) : 0
                try verdicts.start(job, client, quiet: quiet, at: boot)
            }
            try watch.start(job, self)
            if let id = job.resource.stateChangeActionID { try stateChangeActions.start(id, isAged: hasAged, at: now) }
            if let delay = outside.delay(of: job, &random) {
                let lost = sabotage == .forgetsEmergencies ? watch.ordinaryWait(for: job, at: boot) : 0
                schedule(.effect(job), after: delay + UInt64(lost))
            } else {
                stuck.append(job)
            }
        }
        if log != nil { for line in step.changes.compactMap(Words.of) { say(line) } }
        try watch.answered(sabotage == .losesAnswers ? [] : step.answers, at: boot)
        try check(step)
    }

    private func take(_ job: Job) throws {
        try watch.begin(job, self)
        guard let result = try carryOut(job) else { return }
        if sabotage == .losesActionResults, case .run = job.work, job.resource.stateChangeActionID == nil { return }
        if sabotage == .losesNoticeResults, job.resource.stateChangeActionID != nil { return }
        schedule(.input(.finished(job.id, sabotage?.twist(job, result) ?? result)), after: random.next() % 20)
    }

    private func hear(_ input: Input) {
        say(Words.of(input))
        var isRepeated = false
        if case .finished(let id, let result) = input {
            isRepeated = sabotage.map { watch.isRepeated(id, $0) } ?? false
            outside.report(id)
            if let job = watch.job(id), case .stateChangeAction(let name) = job.resource,
                case .run(let action, _) = job.work
            {
                stateChangeActions.finish(name, action, success: (try? result.get()) != nil)
            }
            if let job = watch.job(id) {
                verdicts.finish(job, result, isFormer: watch.former.contains(id), at: boot)
            }
            for reader in watch.finish(id, result, rotation.configuration, at: now) { outside.reportRun(reader) }
        }
        if isRepeated, case .finished(_, .failure) = input {
            // A request that nobody made resets the pause.
            rotation.handle(input, at: now)
            rotation.handle(.asked(.renew(.init(deliverOnly: true)), nil), at: now)
            return
        }
        rotation.handle(input, at: now)
    }
}

extension Wake {
    func later(by seconds: Int64) -> Wake {
        Wake(wall: wall.map { $0 + Seconds(seconds) }, boot: boot)
    }
}
