import AppleClientSecret

/// The meaning of the messages on etcd's watch, a line of JSON for each (etcd calls one WatchResponse). An event's content is not
/// used: every event only causes a read.
package struct EtcdWatchResponse: Sendable {
    /// How many keys are watched.
    private let count: Int
    private var created = 0

    /// In bytes; an event carries its key and value.
    package static let longestLine = 65_536
    /// An event has ten values.
    private static let mostValues = 4_096

    package init(keys count: Int) {
        self.count = count
    }

    /// The meaning of a line.
    package enum State: Hashable, Sendable {
        /// No event has arrived.
        case quiet
        /// Something has changed.
        case changed
        /// Nothing more comes from this watch, although the connection may stay open.
        case ended
    }

    /// Whether every key is watched.
    package var isComplete: Bool { created >= count }

    package mutating func receive(line: [UInt8]) -> State {
        if line.isEmpty { return .quiet }
        guard
            let result = (try? JSONValue(line, duplicates: .lastCounts, atMost: Self.mostValues))?["result"],
            result["canceled"] != .bool(true)
        else { return .ended }
        if result["created"] == .bool(true) { created += 1 }
        guard let events = result["events"]?.elements, !events.isEmpty else { return .quiet }
        return .changed
    }
}
