import AppleClientSecret
import Failures
import Foundation
import Model
import Rotation
import StatusAPI
import TestSupport
import Testing

@testable import clientsecretd

/// What `status --fleet` shows.
@Suite struct FleetTableTests {
    private let now = WallTime(secondsSinceEpoch: 1_795_235_460)
    private let current = Fingerprint(leadingBytes: 0xAB)

    private func machine(
        _ name: String, _ state: FleetCounts.State, _ fingerprint: Fingerprint?, failure: String? = nil
    ) -> FleetMachineView {
        FleetMachineView(
            machine: name, state: state,
            holding: MachineReport.Holding(
                secret: fingerprint.map { SecretName($0) }, since: now - 7_200, delivered: failure == nil,
                failure: failure),
            lastSeen: now - 180)
    }

    private func client(
        _ counts: [FleetCounts.State: Int], delivered: Int, _ machines: [FleetMachineView] = [],
        fingerprint: Fingerprint?
    ) throws -> FleetClientView {
        FleetClientView(
            name: try #require(ClientName("web")), fingerprint: fingerprint,
            counts: FleetCounts(counts, delivered: delivered), machines: machines)
    }

    private func lines(_ clients: FleetClientView..., columns: Int? = nil) -> [String] {
        let terminal = Terminal(size: columns.map { ($0, 24) }, environment: ["TERM": "dumb"])
        return FleetTable(view: FleetView(clients: clients), now: now).lines(for: terminal).map(terminal.line)
    }

    @Test func howFarASecretIsRolledOut() throws {
        var web = try client([.current: 20], delivered: 1, fingerprint: current)
        for (state, words) in [
            (RolloutView.State.going, "; rollout: 5 % of the machines may deliver"),
            (.held, "; rollout: held at 5 % of the machines, since 2026-11-21T02:31:00Z (2 hours ago)"),
            (.finished, ""),
        ] {
            web.rollout = RolloutView(share: 0.05, state: state, since: now - 7_200)
            #expect(lines(web, columns: 200) == ["web: 20 of 20 hold sha256:00000000000000ab, delivered on 1" + words])
        }
        #expect(RolloutWords.line(for: nil, now: now) == "not rolled out: each machine delivers by itself")
        let waiting = RolloutView(share: 0, state: .waiting, since: now)
        #expect(
            RolloutWords.line(for: waiting, now: now) == "waits for the store: no machine is known to be admitted")
    }

    @Test func aRolloutSaysWhatItWaitsForOnceAllHaveDelivered() throws {
        let going = RolloutView(share: 1, state: .going, since: now - 7_200)
        var web = try client([.current: 19, .silent: 1], delivered: 19, fingerprint: current)
        web.rollout = going
        let words =
            "all known machines have delivered; finishes in 1 day (2026-11-22T04:31:00Z), unless another one reports"
        #expect(RolloutWords.lines(for: web.name, going, in: web, now: now) == ["web: " + words])
        #expect(lines(web, columns: 300)[0].hasSuffix("; rollout: " + words))
        let others: [([FleetCounts.State: Int], delivered: Int, share: Double)] = [
            ([.current: 20], 19, 1), ([.failing: 1, .current: 19], 19, 1), ([.current: 19], 19, 0.9),
        ]
        for (counts, delivered, share) in others {
            let other = try client(counts, delivered: delivered, fingerprint: current)
            let line = RolloutWords.line(for: RolloutView(share: share, state: .going, since: now), in: other, now: now)
            #expect(line == "\(Int(share * 100)) % of the machines may deliver")
        }
    }

    /// What a machine lacks of the store says nothing of its applications.
    @Test func aHeldRolloutNamesOnlyTheMachinesThatFailToDeliver() throws {
        let machines = [
            machine("app1", .failing, current, failure: "action_failed"),
            machine("app2", .failing, current, failure: "store_certificate_expiring"),
            machine("app3", .failing, current, failure: "a_code_of_a_later_version"),
        ]
        let web = try client([.failing: 3], delivered: 0, machines, fingerprint: current)
        let held = RolloutView(share: 0.05, state: .held, since: now)
        #expect(
            RolloutWords.lines(for: web.name, held, in: web, now: now).filter { $0.contains(" fails: ") }
                == ["app1 fails: action_failed", "app3 fails: a_code_of_a_later_version"])
        #expect(lines(web)[0].hasPrefix("web: 3 of 3 hold sha256:00000000000000ab, delivered on 0; failing: app1, "))
    }

    /// No command is known if the daemon may be another configuration's.
    @Test func aHeldRolloutSaysWhatComesNextAlsoWithoutACommand() async {
        await #expect(processExitsWith: .success) {
            let name = try #require(ClientName("web"))
            let now = WallTime(secondsSinceEpoch: 1_795_235_460)
            let held = RolloutView(share: 0.05, state: .held, since: now)
            let web = FleetClientView(
                name: name, fingerprint: nil, counts: FleetCounts([:], delivered: 0), machines: [])
            #expect(
                RolloutWords.lines(for: name, held, in: web, now: now).last
                    == "next: clientsecretd rollout resume web, or finish instead of resume")
            var context = CommandContext.current
            context.knowsDaemon = false
            context.use()
            #expect(
                RolloutWords.lines(for: name, held, in: web, now: now).last == "next: resume or finish the rollout")
        }
    }

    @Test func aLineForEachClientAndThenTheMachinesThatAreNotCurrent() throws {
        let web = try client(
            [.current: 9_997, .failing: 1, .behind: 1, .silent: 1], delivered: 9_990,
            [
                machine("app1", .failing, current, failure: "disk_full"), machine("app17", .behind, nil),
                machine("app18", .silent, Fingerprint(leadingBytes: 1)),
            ], fingerprint: current)
        #expect(
            lines(web) == [
                "web: 9,998 of 10,000 hold sha256:00000000000000ab, delivered on 9,990; failing: app1; behind: app17; "
                    + "silent: app18",
                "",
                "CLIENT  MACHINE  STATE    HOLDS                    SINCE        DELIVERED  FAILURE    LAST SEEN",
                "web     app1     failing  sha256:00000000000000ab  2 hours ago  no         disk_full  3 minutes ago",
                "web     app17    behind   no secret                2 hours ago  yes                   3 minutes ago",
                "web     app18    silent   sha256:0000000000000001  2 hours ago  yes                   3 minutes ago",
            ])
    }

    @Test func ofManyAFewAreNamed() throws {
        let machines = (1...7).map { machine("app\($0)", .behind, nil) }
        let web = try client([.behind: 1_007], delivered: 0, machines, fingerprint: current)
        #expect(lines(web)[0].hasSuffix("; behind: app1, app2, app3, app4, app5 and 1,002 more"))
    }

    @Test func withoutReportsTheLineShowsThat() throws {
        #expect(lines(try client([:], delivered: 0, fingerprint: current)) == ["web: no machine has reported it"])
    }

    @Test func whereThereIsNoSecret() throws {
        let web = try client([.behind: 1], delivered: 0, [machine("app1", .behind, nil)], fingerprint: nil)
        #expect(lines(web)[0] == "web: 0 of 1 hold a secret, because there is none here, delivered on 0; behind: app1")
    }
}
