import AppleClientSecret
import Model

/// How often a place is repaired that other programs change: a file, a place behind an API, or one in the store. After too many
/// repairs it is contested: another program keeps changing it, and it is repaired less often.
struct RepairLimit: Hashable, Sendable {
    /// Of a file, and of a place in the store. Their changes are noticed at once.
    static let standard = RepairLimit(RateLimit(3, in: 3600), interval: 600)
    /// Of a place behind an API. It is read once an hour, so each repair must be remembered for longer.
    static let ofTarget = RepairLimit(RateLimit(3, in: 21_600), interval: 3600)

    private var repairs: RateLimit
    /// How often a contested place is repaired.
    private let interval: Seconds
    /// Whether a request asks for the place to be repaired.
    private var isRequested = false

    init(_ repairs: RateLimit, interval: Seconds) {
        self.repairs = repairs
        self.interval = interval
    }

    /// How many repairs make a place contested.
    var count: Int { repairs.count }

    /// Records a repair.
    mutating func note(at now: BootTime) { repairs.note(at: now) }

    /// Lets a contested place be repaired once without waiting: the user may just have stopped the program that changed it.
    mutating func request() { isRequested = true }

    /// Records that the place was repaired, or is good.
    mutating func endRequest() { isRequested = false }

    /// Whether another program keeps changing the place.
    func isContested(_ timer: inout WakeTimer) -> Bool { !repairs.admits(&timer) }

    func isContested(at now: BootTime) -> Bool { repairs.next(at: now) != nil }

    /// When a contested place is next repaired; nil before the first repair.
    var next: BootTime? { repairs.last.map { $0 + interval } }

    /// Whether the place is not repaired for now, because it is contested.
    func isPausing(_ timer: inout WakeTimer) -> Bool {
        guard let next, !isRequested, isContested(&timer) else { return false }
        return !timer.reached(next)
    }
}
