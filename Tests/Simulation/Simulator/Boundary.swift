/// A moment right before or right after the effect of a piece of work.
struct Boundary<Work: Hashable & Sendable>: Hashable, Sendable, CustomStringConvertible {
    let work: Work
    let isAfter: Bool

    var description: String { "\(isAfter ? "after" : "before") \(work)" }

    static func all(of works: [Work]) -> [Boundary] {
        works.flatMap { [Boundary(work: $0, isAfter: false), Boundary(work: $0, isAfter: true)] }
    }
}
