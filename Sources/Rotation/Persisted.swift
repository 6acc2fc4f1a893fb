import Model

/// The known content of a value in the state directory.
struct Persisted<Value: Hashable & Sendable>: Sendable {
    /// The value last read from or written to the state directory; until then the one given to `init`.
    private(set) var value: Value
    /// Whether reading it was tried since the start, successfully or not.
    private(set) var wasTried = false
    /// Whether it was read since the start. An unread value may hold the only secret.
    private(set) var wasRead = false
    /// The job that wrote or read ``value``; nil if it has to be written again.
    private var by: JobID? = .beforeAll

    init(_ value: Value) { self.value = value }

    mutating func recalled(_ value: Value, by job: JobID?) {
        self.value = value
        by = job
        wasTried = true
        wasRead = true
    }

    /// Records that it could not be read.
    mutating func notRecalled() { wasTried = true }

    mutating func kept(_ value: Value, by job: JobID) {
        self.value = value
        by = job
    }

    /// Whether the state directory holds this value, written or read by this job or a later one.
    func holds(_ value: Value, since job: JobID) -> Bool {
        self.value == value && by.map { $0 >= job } == true
    }
}
