import AppleClientSecret
import Failures
import Model
import Rotation
import TestSupport
import Testing

@testable import Daemon

/// `run --once` prints each failure once, with the client that it concerns where it is that client's reason.
@Suite struct OnceLogTests {
    private let web: ClientName
    private let file: Resource
    private let full: Failure
    private let silent = Failure(.storeTimedOut, at: .store)

    init() throws {
        let path = try #require(AbsolutePath("/srv/web.jwt"))
        web = try #require(ClientName("web"))
        file = .file(path)
        full = Failure(.diskFull, at: .path(path))
    }

    private func words(_ entries: [OnceLog.Entry]) -> [String] { entries.map { $0.event.line(clients: []).words } }

    @Test func aReasonIsLeftToTheEnd() {
        var log = OnceLog()
        for failures in 1...2 {
            let event = LogEvent.failing(
                file, full, failures: failures, retryAt: WallTime(secondsSinceEpoch: 1_700_000_000))
            #expect(log.take(event, [web]).isEmpty)
        }
        let reason = Reason(failure: full, client: web, since: WallTime(secondsSinceEpoch: 1_700_000_000))
        #expect(log.take(.health(web, .critical, reason), []).isEmpty)
        #expect(log.left(except: [full]).isEmpty)
        // The run ends: nothing is tried again.
        #expect(words(log.left(except: [silent])) == ["\(full.sentence); failed 2 times"])
    }

    @Test func whatHasEndedIsLoggedWithItsEnd() {
        var log = OnceLog()
        _ = log.take(.failing(file, full, failures: 1, retryAt: nil), [web])
        let recovered = log.take(.recovered(file, full), [web])
        #expect(words(recovered) == [full.sentence, "works again; it was: \(full.message)"])
        #expect(log.left(except: []).isEmpty)
        #expect(words(log.take(.ready, [])) == ["every client was tried once"])
    }
}
