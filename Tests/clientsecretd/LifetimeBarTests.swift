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
        #expect(
            LifetimeBar.text(
                from: WallTime(secondsSinceEpoch: 0), to: WallTime(secondsSinceEpoch: 1000),
                at: WallTime(secondsSinceEpoch: age), cells: 10, unicode: false) == bar)
    }

    /// The mark stands in what is left until then, and in what has passed from then on, in however few cells.
    @Test(arguments: [
        (0, "######|###"), (1, ".#####|###"), (400, "....##|###"), (640, "......|###"), (665, "......|###"),
        (700, "......|.##"), (999, "......|..#"), (1000, "......|..."), (-5, "######|###"),
    ])
    func showsWhenItIsToBeRenewed(age: Int64, bar: String) {
        #expect(Self.marked(age: age, cells: 10) == bar)
    }

    @Test func hasRoomForTheMarkOnly() {
        #expect(Self.marked(age: 1, cells: 1) == "|")
        #expect(Self.marked(age: 1, cells: 0) == "")
    }

    private static func marked(age: Int64, cells: Int) -> String {
        LifetimeBar.text(
            from: WallTime(secondsSinceEpoch: 0), to: WallTime(secondsSinceEpoch: 1000),
            at: WallTime(secondsSinceEpoch: age), renewal: WallTime(secondsSinceEpoch: 666), cells: cells,
            unicode: false)
    }

    @Test func blocksWhereTheLocaleHasThem() {
        let bar = LifetimeBar.text(
            from: WallTime(secondsSinceEpoch: 0), to: WallTime(secondsSinceEpoch: 4),
            at: WallTime(secondsSinceEpoch: 1), cells: 4, unicode: true)
        #expect(bar == "░███")
        let marked = LifetimeBar.text(
            from: WallTime(secondsSinceEpoch: 0), to: WallTime(secondsSinceEpoch: 4),
            at: WallTime(secondsSinceEpoch: 1), renewal: WallTime(secondsSinceEpoch: 2), cells: 5, unicode: true)
        #expect(marked == "░█│██")
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
