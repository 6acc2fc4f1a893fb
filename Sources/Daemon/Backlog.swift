import Rotation

/// Inputs that were posted and not handled yet, by priority.
///
/// With ten thousand clients to read back at once, the first clients' jobs run while the others' inputs still wait:
/// each step handles only some, and inputs that move a secret further come before those that begin with another client.
/// The order changes nothing else, for jobs end in any order.
struct Backlog {
    /// By rank, each in order of arrival; slices, because taking the first ones must not move the others.
    private var ranks: [ArraySlice<Input>] = [[], [], []]

    var isEmpty: Bool { ranks.allSatisfy { $0.isEmpty } }

    mutating func add(_ inputs: [Input]) {
        for input in inputs { ranks[Self.rank(of: input)].append(input) }
    }

    /// Removes the next inputs to handle.
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
