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

    /// Whether all is well where there are targets, or Apple alone fails, and has said so of every secret.
    var onlyAsksAgain: Bool {
        let failing = rotation.failures.keys
        guard !failing.isEmpty else { return watch.pushes && rotation.snapshot(at: now).health == .ok }
        return watch.mintsNothing(at: boot) && failing.allSatisfy { if case .verification = $0 { true } else { false } }
    }

    private func step(isWake: Bool) throws {
        guard try happen(isWake: isWake) else { return try outside.check() }
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
}

extension Wake {
    func later(by seconds: Int64) -> Wake {
        Wake(wall: wall.map { $0 + Seconds(seconds) }, boot: boot)
    }
}
