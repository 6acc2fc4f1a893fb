import AppleClientSecret
import Failures
import Model
import Rotation
import Testing

@testable import Daemon

/// A run with `--once` that fails says why.
@Suite struct SingleRunReportTests {
    private let web: ClientName
    private let now = WallTime(secondsSinceEpoch: 1_800_000_000)
    private let full: Failure
    private let replaced: Failure

    init() throws {
        web = try #require(ClientName("web"))
        full = Failure(.diskFull, at: .path(try #require(AbsolutePath("/srv/web.jwt"))))
        replaced = Failure(.keyChanged, at: .client(web))
    }

    private func client(
        _ health: HealthState, _ failure: Failure? = nil, isDelivered: Bool = false,
        output: OutputView.State = .ok, waitsFor wait: ActionView.Wait? = nil
    ) throws -> ClientView {
        let path = try #require(AbsolutePath("/srv/web.jwt"))
        let action = ActionView(
            action: ActionID("exec /bin/tell"), state: isDelivered ? .ok : .pending, ranAt: nil, error: nil,
            waitsFor: wait)
        return ClientView(
            name: web, clientID: try #require(ClientID("com.example.web")), team: try #require(TeamID("DEF123GHIJ")),
            keyID: try #require(KeyID("ABC123DEFG")), health: health,
            reason: failure.map { Reason(failure: $0, client: web, since: now) }, current: nil, deliveredExpiresAt: nil,
            renewAt: nil, renewals: 0, consecutiveFailures: 0, lastError: nil, delivered: isDelivered,
            outputs: [OutputView(path: path, state: output, writtenAt: nil, error: nil)], actions: [action])
    }

    private func report(
        _ client: ClientView, own: Failure? = nil, unwritten: Failure? = nil, _ rollout: AwaitedRollout? = nil,
        once: SingleRunLog = SingleRunLog()
    ) -> SingleRunReport {
        let reason = own.map { Reason(failure: $0, since: now) } ?? client.reason
        var end = Snapshot(
            startedAt: now, ready: true, health: reason == nil ? .ok : .degraded, reason: reason, clockTrusted: true,
            configuration: ConfigurationView(path: "/c.yaml", loadedAt: now, error: nil), clients: [client])
        end.awaitedRollouts[web] = rollout
        return SingleRunReport(end, once, unwritten: unwritten)
    }

    private func words(_ report: SingleRunReport) -> [String] { report.lines.map(\.words) }

    /// Whatever the state is.
    @Test func noRunFailsWithoutALine() throws {
        for health in HealthState.allCases {
            for failure in [nil, full, replaced] where health != .ok || failure == nil {
                for isDelivered in [true, false] {
                    for output in [OutputView.State.ok, .pending, .contested] {
                        for wait in [nil, .turn, .rollout, .deployment] as [ActionView.Wait?] {
                            let view = try client(
                                health, failure, isDelivered: isDelivered, output: output, waitsFor: wait)
                            for own in [nil, full, replaced] {
                                let report = report(view, own: own)
                                #expect(report.status == .done || !report.lines.isEmpty, "\(view)")
                                if !isDelivered || failure == full || own == full {
                                    #expect(report.status == .failed, "\(view)")
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    @Test func whatWasDoneIsNoFailure() throws {
        let good = report(try client(.ok, isDelivered: true))
        #expect(good.status == .done && good.lines.isEmpty)
        // Reported, and nothing is left to do.
        let ofKey = report(try client(.degraded, replaced, isDelivered: true))
        #expect(ofKey.status == .done)
        #expect(words(ofKey) == ["web: \(replaced.sentence)"])
    }

    @Test func anActionThatWaitsForARolloutIsReportedWithItsDeadline() throws {
        let beginning =
            "web: client \"web\": the current secret is published, but not all actions of on_change have run for it: "
            + "exec /bin/tell: it waits until the rollout of the secret admits this machine, until 2027-01-15T08:00:00Z at "
            + "the latest"
        let view = try client(.ok, waitsFor: .rollout)
        for (isHeld, end) in [
            (false, "; wait for the rollout, then run \"run --once\" again ("),
            (
                true,
                ", and the rollout is held; resume or finish the rollout on a signer, then run \"run --once\" again ("
            ),
        ] {
            let report = report(view, AwaitedRollout(isHeld: isHeld, deadline: now))
            #expect(report.status == .failed)
            let line = try #require(words(report).first)
            #expect(line.hasPrefix(beginning + end), "\(line)")
            #expect(line.contains("rollout show web"))
        }
    }

    @Test func anOutputThatWasNotWrittenIsNamed() throws {
        let report = report(try client(.ok, output: .pending))
        let line = try #require(words(report).first)
        let words = "the current secret is not in all of its outputs yet: /srv/web.jwt"
        #expect(line.hasPrefix("web: client \"web\": " + words))
    }

    /// A problem of the daemon as a whole that no job or client has.
    @Test func eachReasonIsPrintedOnce() throws {
        let own = Failure(.clockDoubtful, at: .clock)
        let good = try client(.ok, isDelivered: true)
        #expect(words(report(good, own: own)) == [own.sentence])
        // When it began.
        var once = SingleRunLog()
        #expect(once.take(.clockDistrusted(own), []).count == 1)
        let known = report(good, own: own, once: once)
        #expect(known.status == .failed && known.lines.isEmpty)
        let ofClient = report(try client(.critical, full))
        #expect(words(ofClient) == ["web: \(full.sentence)"])
        let ofMetrics = report(good, unwritten: full)
        #expect(ofMetrics.status == .failed && words(ofMetrics) == [full.sentence])
    }
}
