package import AppleClientSecret

/// How long a machine's report counts, and how long it is kept in the store.
extension MachineReport {
    /// A machine without a sign of life for longer is silent: more than a day, in which each machine puts its report.
    package static let silence: Seconds = 93_600

    /// After how long without a sign of life a report is removed: 14 days.
    package static let removedAfter: Seconds = 1_209_600
}
