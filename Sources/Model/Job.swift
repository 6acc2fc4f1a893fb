/// A piece of work that was started.
package struct Job: Hashable, Sendable {
    package let id: JobID
    package let resource: Resource
    package let work: Work
    package let startedAt: BootTime

    package init(id: JobID, resource: Resource, work: Work, startedAt: BootTime) {
        self.id = id
        self.resource = resource
        self.work = work
        self.startedAt = startedAt
    }
}

/// A number that grows with every job, so that of any two the earlier one is known.
package struct JobID: Hashable, Comparable, Sendable {
    package let number: UInt64

    package init(number: UInt64) {
        self.number = number
    }

    package static let first = JobID(number: 1)
    /// Of no job, and before that of each.
    package static let beforeAll = JobID(number: 0)

    package static func < (left: JobID, right: JobID) -> Bool {
        left.number < right.number
    }
}
