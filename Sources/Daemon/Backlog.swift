import Rotation

/// Facts that were told and not absorbed yet.
///
/// With ten thousand clients to look for at once, what was decided for the first is under way while the others are still
/// thought about: what brings a secret further comes before what begins with another, and not everything in one turn.
/// Which of two facts comes first changes nothing else, for jobs end in any order.
struct Backlog {
    /// By rank, in each in the order they came; slices, because taking some must not move the others.
    private var ranks: [ArraySlice<Input>] = [[], [], []]

    var isEmpty: Bool { ranks.allSatisfy { $0.isEmpty } }

    mutating func add(_ inputs: [Input]) {
        for input in inputs { ranks[Self.rank(of: input)].append(input) }
    }

    /// The next ones to be absorbed, so many at most.
    mutating func take(atMost limit: Int = 256) -> [Input] {
        var taken: [Input] = []
        for rank in ranks.indices where taken.count < limit {
            let next = ranks[rank].prefix(limit - taken.count)
            taken += next
            ranks[rank].removeFirst(next.count)
        }
        return taken
    }

    private static func rank(of input: Input) -> Int {
        switch input {
        case .finished(_, .success(.observed)): 1
        case .finished(_, .success(.recalled)): 2
        default: 0
        }
    }
}
