import ArgumentParser
import Dispatch
import Foundation
import Simulation
import Synchronization
import TestSupport

/// Simulates years of operation on all cores. A program of its own, because the core is thirty times as fast in a
/// release build.
@main struct Simulate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate", abstract: "Lives through simulated years in which things break.")

    @Option(help: "Secret-years to live through at least: simulated years times clients.")
    var years = 2000

    @Option(help: "Live through the life of this seed alone, and say what happens in it.")
    var seed: UInt64?

    @Option(help: "Years of whole fleets to live through instead, in which machines follow others.")
    var fleetYears: Int?

    @Option(help: "Live through the life of the fleet of this seed alone, and say what happens in it.")
    var fleetSeed: UInt64?

    @Flag(help: "Plant one mistake after the other, and say as which broken promise each is noticed.")
    var planted = false

    func validate() throws {
        guard years > 0 else { throw ValidationError("--years must be at least 1") }
        guard fleetYears ?? 1 > 0 else { throw ValidationError("--fleet-years must be at least 1") }
    }

    func run() throws {
        if planted {
            try noticePlanted()
        } else if let seed {
            try live(Life(seed: seed))
        } else if let fleetSeed {
            try live(FleetLife(seed: fleetSeed))
        } else if let fleetYears {
            try liveMany(FleetLife.self, fleetYears, "fleet-years", allFaultsFrom: 100)
        } else {
            try liveMany(Life.self, years, "secret-years", allFaultsFrom: 2000)
        }
    }

    private func live(_ life: some SimulatedLife) throws {
        let report = try life.live { say($0) }
        say("Every promise was kept, in \(report.steps) turns with \(report.mints) secrets.")
    }

    private func noticePlanted() throws {
        let unnoticed = Mutex(0)
        // Those around a store take longest.
        let all = notices(FleetLife.self).reversed() + notices(Life.self)
        DispatchQueue.concurrentPerform(iterations: all.count) { index in
            let (mistake, notice) = all[index]
            if let promise = notice() {
                say("\(promise)\t\(mistake)")
            } else {
                say("\(mistake) goes unnoticed")
                unnoticed.withLock { $0 += 1 }
            }
        }
        if unnoticed.withLock({ $0 }) > 0 { throw ExitCode.failure }
    }

    private func notices<L: SimulatedLife>(_: L.Type) -> [(mistake: String, notice: @Sendable () -> String?)] {
        L.Mistake.allCases.map { mistake in ("\(mistake)", { L.notice(mistake)?.rawValue }) }
    }

    /// - Parameter allFaultsFrom: the years from which on every fault has to occur: a promise holds only if each has put it to
    ///   the test.
    private func liveMany<L: SimulatedLife>(_: L.Type, _ years: Int, _ unit: String, allFaultsFrom: Int) throws {
        let generator = SeededGenerator()
        let lives = (years + L.years - 1) / L.years
        let work = Mutex(Work(seeds: generator, left: lives))
        let cores = ProcessInfo.processInfo.activeProcessorCount
        let began = ContinuousClock.now
        say("\(lives * L.years) \(unit) in \(lives) lives, from seed \(generator.seed)")
        DispatchQueue.concurrentPerform(iterations: cores) { _ in
            while let seed = work.withLock({ $0.next() }) {
                do {
                    let report = try L(seed: seed, mistake: nil).live(log: nil)
                    work.withLock { $0.report.add(report) }
                } catch {
                    work.withLock { $0.failures.append("\(error)") }
                }
            }
        }
        let seconds = (ContinuousClock.now - began).components.seconds
        let done = work.withLock { $0 }
        for failure in done.failures { say(failure) }
        guard done.failures.isEmpty else { throw ExitCode.failure }
        let met = done.report.met
        say(
            "Every promise was kept in \(done.report.steps) turns with \(met.values.reduce(0, +)) faults and"
                + " \(done.report.mints) secrets, in \(seconds) s on \(cores) cores.")
        let missing = L.faults.filter { met[$0, default: 0] == 0 }
        guard missing.isEmpty || years < allFaultsFrom else {
            say("Never occurred: \(missing.joined(separator: ", "))")
            throw ExitCode.failure
        }
    }

    /// Prints a line at once, so that a run of an hour can be followed.
    private func say(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }

    private struct Work {
        var seeds: SeededGenerator
        var left: Int
        var failures: [String] = []
        var report = LifeReport()

        /// The seed of the next life; nil when all lives are done or five have failed.
        mutating func next() -> UInt64? {
            guard left > 0, failures.count < 5 else { return nil }
            left -= 1
            return seeds.next()
        }
    }
}
