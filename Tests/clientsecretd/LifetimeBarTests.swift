import AppleClientSecret
import TestSupport
import Testing

@testable import clientsecretd

@Suite struct LifetimeBarTests {
    @Test(arguments: [
        (0, "##########"), (1, ".#########"), (500, ".....#####"), (899, ".........#"), (999, ".........#"),
        (1000, ".........."), (5000, ".........."), (-5, "##########"),
    ])
    func emptiesAsTimePasses(age: Int64, bar: String) {
        #expect(Self.bar(age) == bar)
    }

    /// The mark stands in what is left until then, and in what has passed from then on, in however few cells.
    @Test(arguments: [
        (0, "######|###"), (1, ".#####|###"), (400, "....##|###"), (640, "......|###"), (665, "......|###"),
        (700, "......|.##"), (999, "......|..#"), (1000, "......|..."), (-5, "######|###"), (1, "|"), (1, ""),
    ])
    func showsWhenItIsToBeRenewed(age: Int64, bar: String) {
        #expect(Self.bar(age, renewal: 666, cells: bar.count) == bar)
    }

    @Test func blocksWhereTheLocaleHasThem() {
        #expect(Self.bar(1, of: 4, cells: 4, unicode: true) == "░███")
        #expect(Self.bar(1, of: 4, renewal: 2, cells: 5, unicode: true) == "░█│██")
    }

    private static func bar(
        _ age: Int64, of life: Int64 = 1000, renewal: Int64? = nil, cells: Int = 10, unicode: Bool = false
    ) -> String {
        func moment(_ seconds: Int64) -> WallTime { WallTime(secondsSinceEpoch: seconds) }
        return LifetimeBar.text(
            from: moment(0), to: moment(life), at: moment(age), renewal: renewal.map(moment), cells: cells,
            unicode: unicode)
    }

    @Test func isAsLongAsAskedWhateverTheTimes() {
        var generator = SeededGenerator()
        for _ in 0..<2000 {
            let times = (0..<4).map { _ in
                WallTime(
                    secondsSinceEpoch: Bool.random(using: &generator)
                        ? .random(in: -10...10, using: &generator) : .random(in: .min ... .max, using: &generator))
            }
            let cells = Int.random(in: 0...40, using: &generator)
            let bar = LifetimeBar.text(
                from: times[0], to: times[1], at: times[2], renewal: Bool.random(using: &generator) ? times[3] : nil,
                cells: cells, unicode: false)
            #expect(bar.count == cells, "seed \(generator.seed): \(times)")
        }
    }
}
