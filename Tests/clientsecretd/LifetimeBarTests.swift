import AppleClientSecret
import TestSupport
import Testing

@testable import clientsecretd

@Suite struct LifetimeBarTests {
    @Test(arguments: [
        (0, "##########"), (1, "#########."), (500, "#####....."), (899, "#........."), (999, "#........."),
        (1000, ".........."), (5000, ".........."), (-5, "##########"),
    ])
    func emptiesAsTimePasses(age: Int64, bar: String) {
        #expect(
            LifetimeBar.text(
                from: WallTime(secondsSinceEpoch: 0), to: WallTime(secondsSinceEpoch: 1000),
                at: WallTime(secondsSinceEpoch: age), cells: 10, unicode: false) == bar)
    }

    @Test func blocksWhereTheLocaleHasThem() {
        let bar = LifetimeBar.text(
            from: WallTime(secondsSinceEpoch: 0), to: WallTime(secondsSinceEpoch: 4),
            at: WallTime(secondsSinceEpoch: 1), cells: 4, unicode: true)
        #expect(bar == "███░")
    }

    @Test func isAsLongAsAskedWhateverTheTimes() {
        var generator = SeededGenerator()
        for _ in 0..<2000 {
            let times = (0..<3).map { _ in
                WallTime(
                    secondsSinceEpoch: Bool.random(using: &generator)
                        ? .random(in: -10...10, using: &generator) : .random(in: .min ... .max, using: &generator))
            }
            let cells = Int.random(in: 0...40, using: &generator)
            let bar = LifetimeBar.text(from: times[0], to: times[1], at: times[2], cells: cells, unicode: false)
            #expect(bar.count == cells, "seed \(generator.seed): \(times)")
        }
    }
}
