import Foundation
import Linux
import Synchronization
import Testing

@testable import Daemon

@Suite struct LastValueWriterTests {
    @Test func ofSeveralValuesTheLastIsWrittenLast() throws {
        let value = LastValueWriter<Int>()
        let written = Mutex<[Int]>([])
        let ended = DispatchSemaphore(value: 0)
        value.put(1)
        value.take { first in
            // Another thread comes while this one still writes.
            value.put(2)
            value.put(3)
            Thread.detachNewThread {
                value.take { other in written.withLock { $0.append(other) } }
                ended.signal()
            }
            written.withLock { $0.append(first) }
        }
        ended.wait()
        value.take { _ in Issue.record("all was written") }
        #expect(written.withLock { $0 } == [1, 3])
    }
}
