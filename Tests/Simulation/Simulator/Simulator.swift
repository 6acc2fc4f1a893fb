import AppleClientSecret
package import Model
package import Rotation
package import TestSupport

/// The daemon's loop with a simulated executor: time, disk, keys, applications and deaths come from a seed.
///
/// Only data is exchanged with the core. Where the real loop passes a job to a worker thread, this one schedules an
/// effect and later an input at moments of its choosing, and may die between any two of them.
package final class Simulator {
    package var random: SeededGenerator
    package let outside: Outside
    package internal(set) var rotation: Rotation
    let sabotage: Sabotage?
    /// From 0 to 1, the same at every start.
    let hostJitter: Double

    var clocks = Clocks()
    var agenda = Agenda()
    var wake = Wake()
    /// Milliseconds by which the next wake comes too late, where that is the planted mistake.
    var oversleep: Int64 = 0
    /// When the last plan was made.
    var plannedAt: Int64 = 0
    var isAlive = true
    /// When the daemon was started last.
    var bornAt: Int64 = 0
    /// Whether the clock was set since.
    var wasClockSet = false
    /// Where the daemon dies next.
    var doom: Fault.Boundary?
    var watch: Watch
    var stateChangeActions: NoticeWatch
    var verdicts = VerdictWatch()
    /// Jobs on files that hang.
    var stuck: [Job] = []
    package internal(set) var steps = 0
    var deaths = 0
    var requestIDs: UInt64 = 0
    /// Receives a line for each event.
    var log: ((String) -> Void)?

    /// The clock cannot be right before this moment.
    static let builtAt: Int64 = 1_700_000_000

    package init(seed: UInt64, configuration: Configuration, sabotage: Sabotage? = nil) {
        random = SeededGenerator(seed: seed)
        outside = Outside(configuration, sabotage: sabotage)
        self.sabotage = sabotage
        hostJitter = Double(seed % 101) / 100
        rotation = Self.newborn(seed: seed, hostJitter, at: clocks.now.wall)
        watch = Watch(configuration)
        stateChangeActions = NoticeWatch(configuration)
        schedule(.input(.configured(configuration)), after: 0)
    }

    /// What time it is, as the daemon sees it.
    package var now: Now {
        guard sabotage == .believesClocks else { return clocks.now }
        return Now(wall: clocks.now.wall, boot: clocks.now.boot, kernelSynced: true)
    }

    var boot: Int64 { clocks.boot }

    /// Whether the kernel calls the wall clock synchronised.
    package var isSynced: Bool {
        get { clocks.isSynced }
        set { clocks.isSynced = newValue }
    }

    static func newborn(seed: UInt64, _ hostJitter: Double, at wall: WallTime) -> Rotation {
        Rotation(
            seed: seed, hostJitter: hostJitter, builtAt: WallTime(secondsSinceEpoch: builtAt),
            startedAt: wall, configurationPath: "/etc/clientsecretd/clientsecretd.yaml")
    }

    func schedule(_ event: Agenda.Event, after milliseconds: UInt64) {
        agenda.add(event, at: boot + Int64(milliseconds))
    }

    func say(_ text: @autoclosure () -> String) {
        guard let log else { return }
        log("\(now.wall) \(boot % 1000) \(text())")
    }
}
