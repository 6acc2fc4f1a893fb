/// Where any thread leaves what one loop takes out, in the order it came.
package final class Inbox<Element: Sendable>: Sendable {
    private let waiting = QuietMutex<[Element]>([])
    private let bell: EventCounter

    /// The descriptor to wait for: readable while something lies in the inbox.
    package var raw: Int32 { bell.raw }

    package init() throws(SystemError) {
        bell = try EventCounter()
    }

    package func post(_ element: Element) {
        waiting.withLock { elements in
            elements.append(element)
            // For what came before and was not taken out yet it was rung already.
            if elements.count == 1 { bell.signal() }
        }
    }

    /// Waits until something lies in the inbox, for so many milliseconds at most; returns whether it does.
    package func wait(atMost milliseconds: Int64) -> Bool { bell.wait(atMost: milliseconds) }

    /// All that was posted since the last call.
    package func drain() -> [Element] {
        waiting.withLock { elements in
            let taken = elements
            elements = []
            // Under the lock, as it is rung: it is up as long as something lies here.
            if !taken.isEmpty { bell.clear() }
            return taken
        }
    }
}
