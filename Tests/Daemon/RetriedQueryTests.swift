import Glibc
import Linux
import TestSupport
import Testing

@testable import Daemon

@Suite(.waits) struct RetriedQueryTests {
    @Test func isAskedForUntilItIsGiven() throws {
        let asked = QuietMutex(0)
        let pauses = QuietMutex<[Int]>([])
        let isReady = QuietMutex(false)
        let answer = RetriedQuery(
            atMost: .max,
            pause: { number in
                pauses.withLock { $0.append(number) }
                return 1
            },
            {
                asked.withLock { $0 += 1 }
                return isReady.withLock { $0 } ? "yes" : nil
            })
        #expect(answer.value == nil)
        let reported = try EventCounter()
        answer.whenAnsweredLate { reported.signal() }
        #expect(eventually { asked.withLock { $0 } > 3 })
        isReady.withLock { $0 = true }
        #expect(reported.wait(atMost: 10_000))
        #expect(answer.value == "yes")
        // Also to one who asks to be told once it has come.
        reported.clear()
        answer.whenAnsweredLate { reported.signal() }
        #expect(reported.wait(atMost: 0))
        #expect(pauses.withLock { $0.prefix(3) } == [1, 2, 3])
    }

    @Test func isNotAskedForWithoutEnd() {
        let pauses = QuietMutex<[Int]>([])
        let answer = RetriedQuery<String>(
            atMost: 3,
            pause: { number in
                pauses.withLock { $0.append(number) }
                return 1
            }, { nil })
        #expect(eventually { pauses.withLock { $0.count } == 2 })
        usleep(50_000)
        #expect(pauses.withLock { $0 } == [1, 2])
        #expect(answer.value == nil)
    }

    @Test func oneThatIsGivenAtOnceIsNotAskedForAgain() {
        let asked = QuietMutex(0)
        let answer = RetriedQuery {
            asked.withLock { $0 += 1 }
            return "yes"
        }
        #expect(answer.value == "yes")
        answer.whenAnsweredLate { Issue.record("it was there at once") }
        #expect(asked.withLock { $0 } == 1)
    }
}
