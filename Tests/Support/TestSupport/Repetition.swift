import Dispatch
import Foundation
import Synchronization

/// Does something on a thread of its own, again and again until it is stopped.
package final class Repetition: Sendable {
    private let isStopping = Atomic(false)
    private let done = Atomic(0)
    private let hasEnded = DispatchSemaphore(value: 0)

    package init(_ body: @escaping @Sendable () -> Void) {
        Thread.detachNewThread { [self] in
            while !isStopping.load(ordering: .acquiring) {
                body()
                done.add(1, ordering: .relaxed)
            }
            hasEnded.signal()
        }
    }

    /// How often it was done.
    package var turns: Int { done.load(ordering: .relaxed) }

    /// Returns once it is not being done any more.
    package func stop() {
        isStopping.store(true, ordering: .releasing)
        hasEnded.wait()
    }
}
