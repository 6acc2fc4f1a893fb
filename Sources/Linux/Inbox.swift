import Synchronization

/// Where any thread leaves what one loop takes out, in the order it came.
package final class Inbox<Element: Sendable>: Sendable {
    private let waiting = Mutex<[Element]>([])
    private let bell: EventCounter

    /// The descriptor to wait for: readable while something lies in the inbox.
    package var raw: Int32 { bell.raw }

    package init() throws(SystemError) {
        bell = try EventCounter()
    }

    package func post(_ element: Element) {
        waiting.withLock { $0.append(element) }
        bell.signal()
    }

    /// All that was posted since the last call.
    package func drain() -> [Element] {
        // Cleared first: what is posted from here on rings again.
        bell.clear()
        return waiting.withLock { elements in
            let taken = elements
            elements = []
            return taken
        }
    }
}
