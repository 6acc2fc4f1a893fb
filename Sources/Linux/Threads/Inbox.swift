/// A queue to which any thread posts and which one loop drains, in order.
package final class Inbox<Element: Sendable>: Sendable {
    private let waiting = QuietMutex<[Element]>([])
    private let bell: EventCounter

    /// The descriptor to wait for: readable while the inbox is not empty.
    package var raw: Int32 { bell.raw }

    package init() throws(SystemError) {
        bell = try EventCounter()
    }

    package func post(_ element: Element) {
        waiting.withLock { elements in
            elements.append(element)
            // If elements were waiting already, the bell is raised.
            if elements.count == 1 { bell.signal() }
        }
    }

    /// Waits until the inbox is not empty, at most `milliseconds`; returns whether it is not empty.
    package func wait(atMost milliseconds: Int64) -> Bool { bell.wait(atMost: milliseconds) }

    /// All that was posted since the last call.
    package func drain() -> [Element] {
        waiting.withLock { elements in
            let taken = elements
            elements = []
            // Under the lock, as is raising it: it is raised while elements wait.
            if !taken.isEmpty { bell.clear() }
            return taken
        }
    }
}
