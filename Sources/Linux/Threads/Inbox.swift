/// A queue to which any thread posts and which one loop drains, in order.
package final class Inbox<Element: Sendable>: Sendable {
    private let waiting = QuietMutex<[Element]>([])
    private let counter: EventCounter

    /// The descriptor to wait for: readable while the inbox is not empty.
    package var raw: Int32 { counter.raw }

    package init() throws(SystemError) {
        counter = try EventCounter()
    }

    package func post(_ element: Element) {
        waiting.withLock { elements in
            elements.append(element)
            // If elements were waiting already, the counter is raised already.
            if elements.count == 1 { counter.signal() }
        }
    }

    /// Waits until the inbox is not empty, at most `milliseconds`; returns whether it is not empty.
    package func wait(atMost milliseconds: Int64) -> Bool { counter.wait(atMost: milliseconds) }

    /// All that was posted since the last call.
    package func drain() -> [Element] {
        waiting.withLock { elements in
            let taken = elements
            elements = []
            // Under the lock, as is raising it: it is raised while elements wait.
            if !taken.isEmpty { counter.clear() }
            return taken
        }
    }
}
