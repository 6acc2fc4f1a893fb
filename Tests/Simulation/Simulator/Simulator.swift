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
    package private(set) var rotation: Rotation
    private let sabotage: Sabotage?

    /// Milliseconds since the machine was switched on; a suspend counts.
    private(set) var boot: Int64 = 0
    /// What the wall clock shows when ``boot`` is zero.
    private(set) var wallAtBoot: Int64 = 1_800_000_000
    private(set) var wake = Wake()
    /// When nothing was broken, stepped or killed any more.
    private(set) var calmSince: Int64 = 0
    /// By how much the next wake comes too late, where that is what was planted.
    private var oversleep: Int64 = 0
    /// Jobs on files that hang.
    private var stuck: [Job] = []
    package private(set) var turns = 0
    private(set) var deaths = 0
    /// Told what happens, line by line.
    var log: ((String) -> Void)?

    private enum Event {
        case effect(Job)
        case fact(Fact)
    }

    private var events: [(at: Int64, event: Event)] = []
    private var lastMint: [ClientName: (boot: Int64, wall: WallTime)] = [:]

    package init(seed: UInt64, configuration: Configuration, sabotage: Sabotage? = nil) {
        random = SeededGenerator(seed: seed)
        outside = Outside(configuration)
        self.sabotage = sabotage
        rotation = Self.newborn(seed: seed, at: wallAtBoot)
        schedule(.fact(.configured(configuration)), after: 0)
    }

    package var now: Now {
        Now(
            wall: WallTime(secondsSinceEpoch: wallAtBoot + boot / 1000), boot: BootTime(milliseconds: boot),
            kernelSynced: true)
    }

    private static func newborn(seed: UInt64, at wall: Int64) -> Rotation {
        Rotation(
            seed: seed, hostJitter: Double(seed % 100) / 100, builtAt: WallTime(secondsSinceEpoch: 1_700_000_000),
            startedAt: WallTime(secondsSinceEpoch: wall), configurationPath: "/etc/clientsecretd/clientsecretd.yaml")
    }

    // MARK: What happens to it

    /// Kills the daemon, which loses everything that was not written, and starts it again.
    package func die() {
        deaths += 1
        say("== death")
        events = []
        stuck = []
        outside.shelf = []
        lastMint = [:]
        rotation = Self.newborn(seed: random.seed, at: now.wall.secondsSinceEpoch)
        schedule(.fact(.configured(outside.configuration)), after: 1)
        disturb()
    }

    func stepClock(by seconds: Int64) {
        say("== clock set by \(seconds) s")
        wallAtBoot += seconds
        // The timer tells of it at once; a turn in between would be planned again right away.
        rotation.absorb(.clockSet, at: now)
        disturb()
    }

    /// Sleeps: both clocks go on, nothing runs.
    func suspend(for seconds: Int64) {
        say("== suspended for \(seconds) s")
        boot += seconds * 1000
        if case .sleepsAfterSuspends? = sabotage { oversleep += seconds * 1000 }
        disturb()
    }

    func reload(_ configuration: Configuration) {
        outside.configuration = configuration
        schedule(.fact(.asked(.reload, nil)), after: 1)
        disturb()
    }

    package func tell(_ fact: Fact) {
        if sabotage?.hears(fact) != false { schedule(.fact(fact), after: 1) }
        // Whoever asks may ask twice within a minute.
        if case .asked = fact { disturb() }
    }

    /// Ends every fault; what hung goes on.
    package func mend() {
        outside.mend()
        for job in stuck { schedule(.effect(job), after: random.next() % 50) }
        stuck = []
        disturb()
    }

    package func disturb() {
        calmSince = boot
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
        if boot - calmSince > 2 * 3_600_000, outside.isHealthy { try outside.checkCalm(at: now) }
    }

    private func nextMoment() -> Int64? {
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
            case .effect(let job):
                let result = outside.carryOut(job, sabotage, &random)
                if sabotage?.forgets(job) == true { continue }
                schedule(.fact(.finished(job.id, sabotage?.twist(job, result) ?? result)), after: random.next() % 20)
            case .fact(let fact):
                say("\(fact)")
                rotation.absorb(fact, at: now)
            }
        }
        let turn = rotation.plan(at: now)
        oversleep = 0
        turns += 1
        wake = sabotage?.twist(turn.wake) ?? turn.wake
        for job in turn.start {
            say("-> \(job.work)")
            if let delay = outside.delay(of: job, &random) {
                schedule(.effect(job), after: delay)
            } else {
                stuck.append(job)
            }
        }
        try check(turn)
    }

    func say(_ text: @autoclosure () -> String) {
        guard let log else { return }
        log("\(now.wall) \(boot) \(text())")
    }

    private func schedule(_ event: Event, after milliseconds: UInt64) {
        let moment = boot + Int64(milliseconds)
        let index = events.firstIndex { $0.at > moment } ?? events.endIndex
        events.insert((moment, event), at: index)
    }

    // MARK: Invariants

    private func check(_ turn: Turn) throws {
        try outside.check()
        for job in turn.start {
            guard case .mint(let client, _, _) = job.work else { continue }
            // A minute between scheduled renewals, in the whole seconds of the wall clock and whatever the lifetimes; a
            // broken or missing secret waits for nobody.
            if let last = lastMint[client], now.wall < last.wall + 60, calmSince < last.boot {
                throw Violation("\(client) was minted twice within a minute")
            }
            lastMint[client] = (boot, now.wall)
        }
        if let due = turn.wake.wall, due <= now.wall { throw Violation("the next wake \(due) is not in the future") }
        if let due = turn.wake.boot, due <= now.boot { throw Violation("the next wake is not in the future") }
        // The plan over what was touched has missed nothing.
        var everything = rotation
        everything.touchEverything()
        let again = everything.plan(at: now)
        if let job = again.start.first { throw Violation("a plan over everything would start \(job.work)") }
        if again.wake != turn.wake {
            throw Violation("a plan over everything wakes at \(again.wake), not \(turn.wake)")
        }
        // Two hours cover the slowest retry.
        guard boot - calmSince > 2 * 3_600_000, outside.isHealthy else { return }
        try outside.checkCalm(at: now)
        guard rotation.world.running.isEmpty else { return }
        for client in everything.snapshot(at: now).clients where client.standing != .ok {
            throw Violation("\(client.name) is \(client.standing), \(client.lastError ?? "without an error")")
        }
    }
}

/// A promise that was broken.
package struct Violation: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}
