package import AppleClientSecret

/// How many machines' reports count, how long each counts, and how long it is kept in the store.
extension MachineReport {
    /// The most machines of one client: twice the supported number. Otherwise a user with write access to the store could make the
    /// daemon remember more and more of them.
    package static let mostMachines = 20_000

    /// A machine without a sign of life for longer is silent: more than a day, in which each machine puts its report.
    package static let silence: Seconds = 93_600

    /// After how long without a sign of life a report is removed: 14 days.
    package static let removedAfter: Seconds = 1_209_600
}
