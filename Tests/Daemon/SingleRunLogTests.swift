import AppleClientSecret
import Failures
import Model
import Rotation
import TestSupport
import Testing

@testable import Daemon

/// `run --once` prints each failure once, with the client that it concerns where it is that client's reason.
@Suite struct SingleRunLogTests {
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

    private func words(_ entries: [SingleRunLog.Entry]) -> [String] { entries.map { $0.event.line(clients: []).words } }

    @Test func aReasonIsLeftToTheEnd() {
        var log = SingleRunLog()
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

    /// Each is a failure of the same client, and one is the client's reason.
    @Test func eachVariableThatCannotBeEditedIsLeft() throws {
        let failures = try ["/srv/a.env", "/srv/b.env", "/srv/c.env"].map {
            Failure(.outputMalformed, at: .path(try #require(AbsolutePath($0))))
        }
        let key = Failure(.ioError, at: .client(web))
        var log = SingleRunLog()
        for failure in failures { _ = log.take(.failing(.client(web), failure, failures: 1, retryAt: nil), [web]) }
        let retryAt = WallTime(secondsSinceEpoch: 1_700_000_000)
        _ = log.take(.failing(.client(web), key, failures: 1, retryAt: retryAt), [web])
        #expect(words(log.left(except: [failures[0]])).count == 3)
        #expect(log.take(.recovered(.client(web), failures[1]), [web]).count == 2)
        #expect(log.take(.recovered(.client(web), key), [web]).count == 2)
        #expect(words(log.left(except: [failures[0]])) == ["web: \(failures[2].sentence)"])
    }

    @Test func whatHasEndedIsLoggedWithItsEnd() {
        var log = SingleRunLog()
        _ = log.take(.failing(file, full, failures: 1, retryAt: nil), [web])
        let recovered = log.take(.recovered(file, full), [web])
        #expect(words(recovered) == [full.sentence, "works again; it was: \(full.message)"])
        #expect(log.left(except: []).isEmpty)
        #expect(words(log.take(.ready, [])) == ["every client was tried once"])
    }
}
