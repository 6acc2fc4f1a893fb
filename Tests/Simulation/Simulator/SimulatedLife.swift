import AppleClientSecret
import Model
import Rotation

/// A life in which faults strike, of one machine or of a fleet: its seed determines everything that happens in it.
package protocol SimulatedLife: Sendable {
    associatedtype Mistake: PlantedMistake

    /// Simulated years that pass in one life, times its clients where there are several.
    static var years: Int { get }
    /// Every fault that can occur, in words.
    static var faults: [String] { get }

    init(seed: UInt64, mistake: Mistake?)

    /// Runs the life, checking every promise at every step.
    ///
    /// - Parameter log: receives a line for each event.
    /// - Throws: ``LifeFailure`` at the first promise that is broken.
    func live(log: ((String) -> Void)?) throws -> LifeReport
}

/// A mistake that can be planted in a life. The simulator must notice each: one that finds nothing may simply not be
/// checking.
package protocol PlantedMistake: Sendable, CaseIterable {
    associatedtype Promise: RawRepresentable<String>, Hashable, Sendable

    /// The promises that it breaks.
    var breaks: Set<Promise> { get }

    /// Whether the life of a seed can show it; it can where a mistake does not say otherwise.
    func canShow(in seed: UInt64) -> Bool
}

extension PlantedMistake {
    package func canShow(in seed: UInt64) -> Bool { true }
}

/// What happened in lives, in numbers.
package struct LifeReport: Sendable {
    /// How often each fault occurred, by its words.
    package var met: [String: Int]
    package var mints: Int
    package var steps: Int

    package init(met: [String: Int] = [:], mints: Int = 0, steps: Int = 0) {
        self.met = met
        self.mints = mints
        self.steps = steps
    }

    package mutating func add(_ other: LifeReport) {
        met.merge(other.met, uniquingKeysWith: +)
        mints += other.mints
        steps += other.steps
    }
}

/// A promise that was broken.
package struct BrokenPromise<Promise: RawRepresentable<String> & Sendable>: Error {
    let promise: Promise
    let text: String

    init(_ promise: Promise, _ text: String) {
        self.promise = promise
        self.text = text
    }
}

/// A life in which a promise was broken.
package struct LifeFailure<Promise: RawRepresentable<String> & Sendable>: Error, CustomStringConvertible {
    package let promise: Promise
    package let description: String

    /// - Parameter replay: the variable of `make simulate` that takes the seed.
    init(_ broken: BrokenPromise<Promise>, at moment: WallTime, seed: UInt64, replay: String) {
        promise = broken.promise
        description =
            "\(promise.rawValue): \(broken.text), at \(moment) in the life of seed \(seed); "
            + "to see it again: make simulate \(replay)=\(seed)"
    }
}

extension SimulatedLife {
    /// The promise that a planted mistake breaks in the first of sixty lives in which it breaks one that it is meant to
    /// break; nil when there is none.
    package static func notice(_ mistake: Mistake) -> Mistake.Promise? {
        for seed in UInt64(1)...60 where mistake.canShow(in: seed) {
            do {
                _ = try Self(seed: seed, mistake: mistake).live(log: nil)
            } catch let failure as LifeFailure<Mistake.Promise> where mistake.breaks.contains(failure.promise) {
                return failure.promise
            } catch {
                continue
            }
        }
        return nil
    }
}
