import Simulation
import Testing

/// Clients that receive their secrets: many lives, and mistakes that must be noticed.
@Suite struct FollowerLifeTests {
    @Test func everyPromiseIsKept() throws {
        for seed in 1...30 as ClosedRange<UInt64> {
            do { try FollowerLife(seed: seed).live() } catch { Issue.record("\(error), in the life of seed \(seed)") }
        }
    }

    @Test(arguments: FollowerLife.Mistake.allCases)
    func everyPlantedMistakeIsNoticed(mistake: FollowerLife.Mistake) {
        var noticed: Set<FollowerLife.Promise> = []
        for seed in 1...20 as ClosedRange<UInt64> {
            do {
                try FollowerLife(seed: seed, mistake: mistake).live()
            } catch {
                if let violation = error as? FollowerLife.Violation { noticed.insert(violation.promise) }
            }
        }
        #expect(noticed.contains(mistake.breaks), "\(noticed)")
    }
}
