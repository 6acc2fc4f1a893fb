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

    @Flag(help: "Print how often each fault occurred.")
    var counts = false

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
            let report = try Life(seed: seed).live { say($0) }
            say("Every promise was kept, in \(report.steps) turns with \(report.mints) secrets.")
        } else if let fleetSeed {
            let report = try FleetLife(seed: fleetSeed).live { say($0) }
            say("Every promise was kept, in \(report.steps) turns with \(report.mints) secrets.")
        } else if let fleetYears {
            try liveFleets(fleetYears)
        } else {
            try liveMany()
        }
    }

    private func noticePlanted() throws {
        let unnoticed = Mutex(0)
        var all: [(String, @Sendable () -> String?)] = []
        // Those around a store take longest.
        for mistake in FleetMistake.allCases.reversed() {
            all.append(("\(mistake)", { FleetLife.notice(mistake)?.rawValue }))
        }
        for mistake in Sabotage.allCases { all.append(("\(mistake)", { Life.notice(mistake)?.rawValue })) }
        DispatchQueue.concurrentPerform(iterations: all.count) { [all] index in
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

    private func liveMany() throws {
        let generator = SeededGenerator()
        let lives = (years + Life.secretYears - 1) / Life.secretYears
        let work = Mutex(Work(seeds: generator, left: lives))
        let cores = ProcessInfo.processInfo.activeProcessorCount
        let began = ContinuousClock.now
        say("\(lives * Life.secretYears) secret-years in \(lives) lives, from seed \(generator.seed)")
        DispatchQueue.concurrentPerform(iterations: cores) { _ in
            while let seed = work.withLock({ $0.next() }) {
                do {
                    let report = try Life(seed: seed).live()
                    work.withLock { $0.add(report) }
                } catch {
                    work.withLock { $0.failures.append("\(error)") }
                }
            }
        }
        let seconds = (ContinuousClock.now - began).components.seconds
        try work.withLock { try conclude($0, after: seconds, on: cores) }
    }

    private func conclude(_ work: Work, after seconds: Int64, on cores: Int) throws {
        for failure in work.failures { say(failure) }
        guard work.failures.isEmpty else { throw ExitCode.failure }
        if counts {
            for fault in Fault.allCases { say("\(work.met[fault, default: 0])\t\(fault.words)") }
        }
        let missing = Fault.allCases.filter { work.met[$0, default: 0] == 0 }
        say(
            "Every promise was kept in \(work.steps) turns, \(work.met.values.reduce(0, +)) faults and \(work.deaths) deaths,"
                + " in \(seconds) s on \(cores) cores.")
        // A promise holds only if every fault has put it to the test.
        guard missing.isEmpty || years < 2000 else {
            say("Never occurred: \(missing.map(\.words).joined(separator: ", "))")
            throw ExitCode.failure
        }
    }

    private func liveFleets(_ years: Int) throws {
        let generator = SeededGenerator()
        let lives = (years + Int(FleetLife.years) - 1) / Int(FleetLife.years)
        let work = Mutex(Fleets(seeds: generator, left: lives))
        let began = ContinuousClock.now
        say("\(lives * Int(FleetLife.years)) fleet-years in \(lives) lives, from seed \(generator.seed)")
        DispatchQueue.concurrentPerform(iterations: ProcessInfo.processInfo.activeProcessorCount) { _ in
            while let seed = work.withLock({ $0.next() }) {
                do {
                    let report = try FleetLife(seed: seed).live()
                    work.withLock { $0.add(report) }
                } catch {
                    work.withLock { $0.failures.append("\(error)") }
                }
            }
        }
        let seconds = (ContinuousClock.now - began).components.seconds
        let done = work.withLock { $0 }
        for failure in done.failures { say(failure) }
        guard done.failures.isEmpty else { throw ExitCode.failure }
        if counts {
            for fault in FleetFault.allCases { say("\(done.met[fault, default: 0])\t\(fault)") }
        }
        say("Every promise was kept in \(done.steps) turns with \(done.mints) secrets, in \(seconds) s.")
        let missing = FleetFault.allCases.filter { done.met[$0, default: 0] == 0 }
        guard missing.isEmpty || years < 100 else {
            say("Never occurred: \(missing.map(\.rawValue).joined(separator: ", "))")
            throw ExitCode.failure
        }
    }

    private struct Fleets {
        var seeds: SeededGenerator
        var left: Int
        var failures: [String] = []
        var met: [FleetFault: Int] = [:]
        var steps = 0
        var mints = 0

        /// The seed of the next life; nil when all lives are done or five have failed.
        mutating func next() -> UInt64? {
            guard left > 0, failures.count < 5 else { return nil }
            left -= 1
            return seeds.next()
        }

        mutating func add(_ report: FleetLife.Report) {
            met.merge(report.met, uniquingKeysWith: +)
            steps += report.steps
            mints += report.mints
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
        var met: [Fault: Int] = [:]
        var steps = 0
        var deaths = 0

        /// The seed of the next life; nil when all lives are done or five have failed.
        mutating func next() -> UInt64? {
            guard left > 0, failures.count < 5 else { return nil }
            left -= 1
            return seeds.next()
        }

        mutating func add(_ report: Life.Report) {
            met.merge(report.met, uniquingKeysWith: +)
            steps += report.steps
            deaths += report.deaths
        }
    }
}
