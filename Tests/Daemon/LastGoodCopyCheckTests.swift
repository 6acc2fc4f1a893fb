import Config
import Failures
import Linux
import Model
import TestSupport
import Testing

@testable import Daemon

/// A configuration that root has not copied is reported.
@Suite struct LastGoodCopyCheckTests {
    private func loaded() throws -> LoadedConfiguration {
        let directory = try TemporaryDirectory()
        let path = try directory.write(
            "keys: {k: {team_id: DEF123GHIJ, file: /etc/clientsecretd/AuthKey_ABC123DEFG.p8}}\n"
                + "clients: {web: {client_id: com.example.web, outputs: [{path: /run/web.jwt}]}}\n", to: "c.yaml")
        return try ConfigurationLoader.load(path: path, as: .current()).get()
    }

    @Test func isReportedIfRootDoesNotCopyIt() throws {
        let reported = try Inbox<Failure>()
        let copy = LastGoodCopyCheck(
            of: "c.yaml", timeout: 10, cancel: try EventCounter(), isKept: { _ in false },
            report: { reported.post($0) })
        copy.follow(try loaded())
        #expect(reported.wait(atMost: 60_000))
        #expect(reported.drain() == [Failure(.configurationNotKept, at: .named("c.yaml"))])
    }

    /// Also one that was reverted since.
    @Test func onlyTheLastOneCounts() throws {
        let isKept = QuietMutex(false)
        let reported = try Inbox<Failure>()
        let copy = LastGoodCopyCheck(
            of: "c.yaml", timeout: 50, cancel: try EventCounter(), isKept: { _ in isKept.withLock { $0 } },
            report: { reported.post($0) })
        copy.follow(try loaded())
        isKept.withLock { $0 = true }
        copy.follow(try loaded())
        isKept.withLock { $0 = false }
        #expect(!reported.wait(atMost: 300))
    }
}
