import ArgumentParser
import Dispatch
import Foundation
import Simulation
import Synchronization
import TestSupport

/// Lives through simulated years on all cores. A program beside the tests, because the core is thirty times as fast when
/// it is compiled for release.
@main struct Simulate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate", abstract: "Lives through simulated years in which things break.")

    @Option(help: "Secret-years to live through at least: simulated years times clients.")
    var years = 2400

    @Option(help: "Live through the life of this seed alone, and say what happens in it.")
    var seed: UInt64?

    func validate() throws {
        guard years > 0 else { throw ValidationError("--years must be at least 1") }
    }

    func run() throws {
        if let seed {
            try Life(seed: seed).live { print($0) }
            print("Every promise was kept.")
        } else {
            try liveMany()
        }
    }

    private func liveMany() throws {
        let generator = SeededGenerator()
        let lives = (years + Life.secretYears - 1) / Life.secretYears
        let work = Mutex(Work(seeds: generator, left: lives))
        let cores = ProcessInfo.processInfo.activeProcessorCount
        let began = ContinuousClock.now
        print("\(lives * Life.secretYears) secret-years in \(lives) lives, from seed \(generator.seed)")
        DispatchQueue.concurrentPerform(iterations: cores) { _ in
            while let seed = work.withLock({ $0.next() }) {
                do {
                    try Life(seed: seed).live()
                } catch {
                    work.withLock { $0.failures.append("\(error)") }
                }
            }
        }
        let seconds = (ContinuousClock.now - began).components.seconds
        for failure in work.withLock({ $0.failures }) { print(failure) }
        guard work.withLock({ $0.failures.isEmpty }) else { throw ExitCode.failure }
        print("Every promise was kept, in \(seconds) s on \(cores) cores.")
    }

    private struct Work {
        var seeds: SeededGenerator
        var left: Int
        var failures: [String] = []

        /// The seed of the next life; nil when there are enough of them, or of those that failed.
        mutating func next() -> UInt64? {
            guard left > 0, failures.count < 5 else { return nil }
            left -= 1
            return seeds.next()
        }
    }
}
