import AppleClientSecret
import SignIn

/// Reads the stream of a watch, a line of JSON for each message. Its content is not used: every event only causes a read.
package struct WatchStream: Sendable {
    /// How many keys are watched.
    private let count: Int
    private var created = 0
    private var rest: [UInt8] = []

    /// In bytes; an event carries its key and value.
    private static let longestLine = 65_536

    package init(keys count: Int) {
        self.count = count
    }

    /// What the received bytes mean.
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

    package mutating func receive(_ bytes: [UInt8]) -> State {
        rest += bytes
        var state = State.quiet
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            let line = Array(rest[..<end])
            rest.removeSubrange(...end)
            if line.isEmpty { continue }
            guard let result = (try? JSONValue(line, duplicates: .lastCounts))?["result"],
                result["canceled"] != .bool(true)
            else { return .ended }
            if result["created"] == .bool(true) { created += 1 }
            if let events = result["events"]?.elements, !events.isEmpty { state = .changed }
        }
        return rest.count > Self.longestLine ? .ended : state
    }
}
