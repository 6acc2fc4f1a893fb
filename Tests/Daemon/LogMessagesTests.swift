import AppleClientSecret
import Config
import Failures
import Foundation
import Linux
import Model
import Rotation
import SystemPackage
import TestSupport
import Testing

@testable import Daemon

/// Every row of the log's table, as the journal shows it.
@Suite struct LogMessagesTests {
    private let web: ClientName
    private let app: ClientName
    private let key: KeyName
    private let path: AbsolutePath
    private let target: TargetName
    private let secret: SecretInfo
    private let change: KeyChange
    private let action = ActionID("restart a.service")
    private let credential = ServedCredential(unit: "a.service", name: "jwt")
    private let expiry = WallTime(secondsSinceEpoch: 1_795_235_460)

    init() throws {
        web = try #require(ClientName("web"))
        app = try #require(ClientName("app"))
        key = try #require(KeyName("apple"))
        path = try #require(AbsolutePath("/srv/web.jwt"))
        target = try #require(TargetName("production"))
        let keyID = try #require(KeyID("ABC123DEFG"))
        let end = expiry.secondsSinceEpoch
        secret = .sample(1, .sample(issuedAt: end - 60, expiresAt: end))
        let digits = { (digit: String) in KeyDigest(String(repeating: digit, count: 64)) }
        change = KeyChange(
            keyID: keyID, from: try #require(digits("1")), to: try #require(digits("2")), at: expiry)
    }

    private struct Row {
        let line: LogLine
        let priority: LogLine.Priority
        let words: String
        let fields: [String]

        init(_ line: LogLine, _ priority: LogLine.Priority, _ words: String, _ fields: [String] = []) {
            self.line = line
            self.priority = priority
            self.words = words
            self.fields = fields
        }
    }

    private var rows: [Row] {
        let full = Failure(.diskFull, at: .path(path), cause: 28)
        let fullWords = "/srv/web.jwt: the disk is full (no space left)"
        let reason = Reason(failure: full, client: web, since: expiry, nextAttempt: nil)
        let clock = Failure(.clockDoubtful, at: .clock)
        let renewal = DaemonRequest.renew(.init(clients: [web, app], dueWithin: 60))
        let orphan = OrphanedOutput(
            place: OutputPlace(path: path, slot: .whole), expiresAt: expiry, isShared: false)
        let ofSecret = ["CLIENT=web", "KEY_ID=ABC123DEFG", "FINGERPRINT=sha256:0000000000000001"]
        let ofClients = ["CLIENT=web", "CLIENT=app"]
        func line(_ event: LogEvent) -> LogLine { event.line(clients: [web, app]) }
        return [
            Row(
                line(.minted(web, secret, .asked)), .info,
                "web: minted sha256:0000000000000001, valid until 2026-11-21T04:31:00Z, because it was asked for",
                ofSecret),
            Row(
                line(.tookOver(web, secret)), .info,
                "web: took over sha256:0000000000000001, valid until 2026-11-21T04:31:00Z", ofSecret),
            Row(
                line(.received(web, secret)), .info,
                "web: received sha256:0000000000000001, valid until 2026-11-21T04:31:00Z", ofSecret),
            Row(
                line(.accepted(web, secret)), .info, "web: Apple accepts sha256:0000000000000001", ofSecret),
            Row(
                line(.publishedUnverified(web, secret)), .warning,
                "web: sha256:0000000000000001 replaces the previous secret, which cannot be kept longer, although "
                    + "Apple has not accepted it", ofSecret),
            Row(
                line(.published(path, [web: secret])), .info, "wrote /srv/web.jwt: web sha256:0000000000000001",
                ["PATH=/srv/web.jwt"] + ofSecret),
            Row(
                line(.wroteOverWriter(path)), .warning,
                "replaced /srv/web.jwt, which another program has had open for writing for 10 minutes: what that program "
                    + "writes from now on is lost until it opens the file again", ["PATH=/srv/web.jwt"]),
            Row(
                line(.pushed(target, web, secret, verified: nil)), .info,
                "web: pushed sha256:0000000000000001 to target production, which does not show what it holds",
                ["TARGET=production"] + ofSecret),
            Row(
                line(.shared(web, secret)), .info, "web: put sha256:0000000000000001 into the store", ofSecret),
            Row(
                line(.ran(action, [web: secret])), .info, "done: restart a.service: web sha256:0000000000000001",
                ["ACTION=restart a.service"] + ofSecret),
            Row(
                line(.asked(renewal, Requester(user: 1000, process: 7, command: "sh"))), .info,
                #"user 1000 (process 7, "sh") asked to renew app, web, where due within 60 s"#,
                ["PEER_UID=1000", "PEER_PID=7", "PEER_COMM=sh", "CLIENT=app", "CLIENT=web"]),
            Row(
                line(.served(credential, web, secret)), .info,
                #"web: gave sha256:0000000000000001 to a.service as credential "jwt""#,
                ofSecret + ["UNIT=a.service"]),
            Row(
                line(.notServed(.noSecret(credential, web))), .warning,
                #"web: refused a.service the credential "jwt", because there is no secret yet; "#
                    + "see why (clientsecretd status)", ["CLIENT=web", "UNIT=a.service"]),
            Row(
                line(.failing(.file(path), full, failures: 2, retryAt: expiry)), .error,
                fullWords
                    + "; free some space (df -h --output /srv); failed 2 times; next attempt 2026-11-21T04:31:00Z",
                ["CODE=disk_full", "PATH=/srv/web.jwt"] + ofClients),
            Row(
                line(.recovered(.key(key), full)), .notice, "key apple: works again; it was: " + fullWords,
                ["CODE=disk_full"] + ofClients),
            Row(
                line(.health(web, .degraded, reason)), .warning,
                "web: degraded: \(fullWords); free some space (df -h --output /srv)",
                ["CLIENT=web", "STATE=degraded", "CODE=disk_full"]),
            Row(line(.configured(clients: 1)), .notice, "configuration loaded, 1 client"),
            Row(
                line(.refused(["a", "b"])), .error,
                "the configuration was refused; the previous one stays current:\na\nb"),
            Row(
                line(.wouldNotStart(["a"])), .error,
                "the daemon would not start with this configuration; the previous one stays current:\na"),
            Row(
                line(.startedAsBefore(["a"])), .error,
                "the configuration would not start, so the last good one is current: no action runs, "
                    + "and only secrets that become critical are renewed; fix it and reload:\na"),
            Row(line(.passes), .notice, "the daemon would start with the current file"),
            Row(
                line(.keyChanged(key, change)), .error, change.failure(of: key).sentence,
                ["CODE=key_changed", "KEY_ID=ABC123DEFG"] + ofClients),
            Row(
                line(.keyRestored(key, change)), .notice,
                "key \"apple\": the previous key is back under ABC123DEFG: \(change.from.fingerprint)",
                ["CODE=key_changed", "KEY_ID=ABC123DEFG"] + ofClients),
            Row(line(.clockDistrusted(clock)), .error, clock.sentence, ["CODE=clock_doubtful"]),
            Row(line(.clockTrusted), .notice, "the clock is trusted again"),
            Row(line(.ready), .notice, "every client was tried once"),
            Row(
                line(.faultRaised(full)), .error, fullWords + "; free some space (df -h --output /srv)",
                ["PATH=/srv/web.jwt", "CODE=disk_full"]),
            Row(
                line(.faultCleared(full)), .notice, "works again; it was: " + fullWords,
                ["PATH=/srv/web.jwt", "CODE=disk_full"]),
            Row(
                line(.orphaned(orphan)), .warning,
                "/srv/web.jwt: is no longer an output and holds a secret that is valid until "
                    + "2026-11-21T04:31:00Z; when nothing reads it, remove the file",
                ["PATH=/srv/web.jwt"]),
            Row(
                line(.ranStateChangeAction(action)), .info, "done, because the state changed: restart a.service",
                ["ACTION=restart a.service"]),
        ]
    }

    /// The same of what the core does not know.
    private var daemonRows: [Row] {
        let full = Failure(.diskFull, at: .path(path), cause: 28)
        let fullWords = "/srv/web.jwt: the disk is full (no space left); free some space (df -h --output /srv)"
        let ofFull = ["PATH=/srv/web.jwt", "CODE=disk_full"]
        let warning = Diagnostic(.warning, at: Position(file: "/etc/c.yaml", line: 2, column: 3), "odd; write another")
        return [
            Row(
                .startRefused(.configuration(warning)), .error, "/etc/c.yaml:2:3: warning: odd; write another",
                ["PATH=/etc/c.yaml"]),
            Row(
                .configurationWarning(warning), .warning, "/etc/c.yaml:2:3: warning: odd; write another",
                ["PATH=/etc/c.yaml"]),
            Row(
                .noSecureMemory, .warning, "could not set apart memory for keys; they are in ordinary memory"),
            Row(
                .stateLost(path), .warning,
                "/srv/web.jwt: the state directory was removed, emptied or replaced while it was in use; "
                    + "it is opened again and everything is written to it again", ["PATH=/srv/web.jwt"]),
            Row(
                .socketIgnored(name: "other"), .warning,
                "the daemon does not use the socket other that systemd passed; check FileDescriptorName= of its unit"),
            Row(
                .configurationNotKept(full), .warning,
                "could not save the fallback copy of the configuration: " + fullWords, ofFull),
            Row(.recordSetAside(web, full), .warning, "web: " + fullWords, ofFull + ["CLIENT=web"]),
            Row(.acceptFailed(full), .error, fullWords, ofFull),
            Row(.credentialsLost(full), .error, fullWords, ofFull),
            Row(
                .stoppedEarly(jobs: 3), .warning, "stopped although 3 jobs had not ended; the next start continues"),
            Row(.metricsNotWritten(full), .error, fullWords, ofFull),
            Row(
                .leftUndone(web, .critical, full), .error, "web: " + fullWords,
                ["CLIENT=web", "STATE=critical", "CODE=disk_full"]),
            Row(
                .managerUnreachable(SystemError("send", errno: .brokenPipe)), .warning,
                "the service manager cannot be notified: cannot send: Broken pipe"),
            Row(.sandboxWeakened("weaker"), .warning, "weaker"),
            Row(.hookPrinted(action, "heard"), .info, "restart a.service: 'heard'", ["ACTION=restart a.service"]),
            Row(
                .linesLost(2), .warning,
                "2 log events before the last one are lost: the journal did not take them in time"),
        ]
    }

    @Test func aPushNamesWhatTheAPIShows() {
        let words = [true, false].map { LogEvent.pushed(target, web, secret, verified: $0).line(clients: []).words }
        #expect(words[0] == "web: pushed sha256:0000000000000001 to target production")
        #expect(words[1] == words[0] + ", which does not show it yet")
    }

    @Test func aRowWithoutAFailureSaysHowThingsAre() {
        #expect(LogLine.leftUndone(web, .degraded, nil).words == "web: degraded")
        #expect(LogLine.recordSetAside(nil, Failure(.stateDamaged, at: .path(path))).fields().count == 2)
    }

    /// Why a start is refused, and the error number that the service manager is told.
    @Test func refusalsOfAStart() throws {
        let locked = Failure(.stateLocked, at: .path(path), cause: 11)
        let refusals: [StartProblem] = [
            .system(SystemError("send", errno: .brokenPipe)), .reachableMetrics(socket: "metrics"),
            .stateLocked(locked),
        ]
        #expect(
            refusals.map(\.words) == [
                "cannot run: cannot send: Broken pipe",
                "the socket metrics from systemd is on an address that other machines reach; "
                    + "write a loopback one into its unit, such as ListenStream=127.0.0.1:9467",
                locked.sentence,
            ])
        #expect(refusals.map(\.errno) == [32, nil, 11])
        let limit = StartProblem.system(SystemError("start a thread", errno: .resourceTemporarilyUnavailable))
        #expect(limit.words.contains("; raise TasksMax= or LimitNPROC= of the daemon's unit"))
        #expect(refusals.map(\.fields) == [[], [], locked.fields])
    }

    @Test func everyEventHasItsPriorityWordsAndFields() {
        for row in rows + daemonRows {
            #expect(row.line.priority == row.priority, "\(row.words)")
            #expect(row.line.words == row.words)
            #expect(
                row.line.fields().map { "\($0.name)=\($0.value)" } == row.fields.map { "CLIENTSECRETD_" + $0 },
                "\(row.words)")
        }
    }

    /// A row that is missing above has no explanation in the catalog either, or is missed here.
    @Test func theCatalogExplainsEachMessageIDOnce() throws {
        let catalog = try String(contentsOfFile: repository + "/systemd/clientsecretd.catalog", encoding: .utf8)
        let explained = catalog.matches(of: #/(?m)^-- ([0-9a-f]{32})$/#).map { String($0.output.1) }
        #expect((rows + daemonRows).map(\.line.id).sorted() == explained.sorted())
        #expect(Set(explained).count == explained.count)
    }

    /// For those who filter the journal.
    @Test func eachMessageIDIsOnThePageOfTheJournal() throws {
        let page = try String(contentsOfFile: repository + "/docs/journal.md", encoding: .utf8)
        let catalog = try String(contentsOfFile: repository + "/systemd/clientsecretd.catalog", encoding: .utf8)
        let subjects = catalog.matches(of: #/(?m)^-- ([0-9a-f]{32})\nSubject: (.*)$/#)
        let rows = subjects.map { "| `\($0.output.1)` | \($0.output.2) |" }
        #expect(rows.filter { !page.contains("\n" + $0) } == [])
        #expect(page.matches(of: #/\n\| `[0-9a-f]{32}` /#).count == rows.count)
    }

    @Test func aStateHasThePriorityOfItsGravity() {
        let priorities = [HealthState.ok, .degraded, .critical].map { LogEvent.health(web, $0, nil).line().priority }
        #expect(priorities == [.notice, .warning, .error])
    }

    /// Who was refused, why, and what to do.
    @Test func refusals() {
        #expect(
            [.notRoot(user: 7), .noUnit, .notConfigured(credential), .stopping(credential)].map {
                LogEvent.notServed($0).line().words
            } == [
                "refused a credential to the user 7, because only root's systemd is served; "
                    + "load it from a system unit",
                "refused a credential to a program of root, because it asked for no unit; "
                    + "name the socket in the unit's LoadCredential=",
                #"refused a.service the credential "jwt", because no client has it; write "#
                    + #""credential: {unit: a.service, name: jwt}" under its client"#,
                "refused a.service the credential \"jwt\", because there is no secret yet and the daemon stops; "
                    + "start the unit again",
            ])
    }
}
