import AppleClientSecret
import Testing

@testable import Model
@testable import Rotation

/// How a rollout goes on, as a table. Each letter is a machine, by rank: `d` has delivered, `f` fails, `s` is silent, `-` has
/// yet to deliver. Those before the bar are admitted.
struct RolloutPolicyTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let fleet: String
        var canaries = 1
        var atOnce = 5
        var isPauseOver = false
        var missing = 0
        var isEverybodyKnown = false
        var tolerated = 0
        /// The fleet afterwards; `held` or `all` instead.
        let then: String

        var testDescription: String { "\(fleet) to \(then)" }
    }

    static let rows = [
        // The canaries.
        Row(fleet: "|", isPauseOver: true, isEverybodyKnown: true, then: "|"),
        Row(fleet: "|----", then: "-|---"),
        Row(fleet: "|----", canaries: 2, then: "--|--"),
        Row(fleet: "-|---", canaries: 2, then: "--|--"),
        Row(fleet: "|----", missing: 1, then: "|----"),
        Row(fleet: "|ssss", isPauseOver: true, isEverybodyKnown: true, then: "|ssss"),
        Row(fleet: "ssss|", isPauseOver: true, isEverybodyKnown: true, then: "ssss|"),
        Row(fleet: "-|---", isPauseOver: true, then: "-|---"),
        Row(fleet: "s|---", then: "s-|--"),
        Row(fleet: "s|s--", then: "ss-|-"),
        // The pause.
        Row(fleet: "d|---", then: "d|---"),
        Row(fleet: "d|---", isPauseOver: true, then: "d-|--"),
        Row(fleet: "d|---", canaries: 2, isPauseOver: true, then: "d-|--"),
        Row(fleet: "d-|--", canaries: 2, isPauseOver: true, then: "d-|--"),
        Row(fleet: "d|---", isPauseOver: true, missing: 1, then: "d|---"),
        // Steps.
        Row(fleet: "d|---------", atOnce: 30, isPauseOver: true, missing: 1, then: "d--|-------"),
        Row(fleet: "d|---------", atOnce: 20, isPauseOver: true, then: "d--|-------"),
        Row(fleet: "d-|--------", atOnce: 20, isPauseOver: true, then: "d--|-------"),
        Row(fleet: "d--|-------", atOnce: 20, isPauseOver: true, then: "d--|-------"),
        Row(fleet: "ds-|s------", atOnce: 20, isPauseOver: true, then: "ds-s-|-----"),
        Row(fleet: "d|---", atOnce: 100, isPauseOver: true, then: "d---|"),
        // The end.
        Row(fleet: "ddd-|", isPauseOver: true, isEverybodyKnown: true, then: "ddd-|"),
        Row(fleet: "dddd|", isPauseOver: true, then: "dddd|"),
        Row(fleet: "dddd|", isPauseOver: true, isEverybodyKnown: true, then: "all"),
        Row(fleet: "ddds|", isPauseOver: true, isEverybodyKnown: true, then: "all"),
        Row(fleet: "dddd|", isPauseOver: true, missing: 1, isEverybodyKnown: true, then: "dddd|"),
        // Failures.
        Row(fleet: "f|---", then: "held"),
        Row(fleet: "f|---", tolerated: 1, then: "f|---"),
        Row(fleet: "df|--", isPauseOver: true, then: "held"),
        Row(fleet: "|f---", then: "f|---"),
        Row(fleet: "f|---", missing: 9, then: "held"),
        Row(fleet: "ddf|-----------------", isPauseOver: true, then: "ddf|-----------------"),
        Row(fleet: "ddff|----------------", isPauseOver: true, then: "held"),
    ]

    @Test(arguments: rows) func goesOn(_ row: Row) {
        let bar = row.fleet.prefix { $0 != "|" }.count
        let machines = row.fleet.filter { $0 != "|" }.enumerated().map { number, letter in
            RolloutPolicy.Machine(
                name: "app\(number)", rank: UInt64(number + 1) * 1000, hasDelivered: letter == "d",
                isFailing: letter == "f", isSilent: letter == "s")
        }
        let settings = RolloutConfiguration(canaries: row.canaries, atOnce: row.atOnce, pause: 600)
        let progress = RolloutPolicy.Progress(
            machines: machines, missing: row.missing, isPauseOver: row.isPauseOver,
            isEverybodyKnown: row.isEverybodyKnown)
        let rollout = Rollout(
            of: SecretName(Fingerprint(leadingBytes: 1)), admitted: UInt64(bar) * 1000, tolerated: row.tolerated)
        let next = RolloutPolicy.next(rollout, progress, settings)
        #expect(shown(next, row.fleet.filter { $0 != "|" }) == row.then)
    }

    private func shown(_ rollout: Rollout, _ fleet: String) -> String {
        if rollout.state == .held { return "held" }
        guard rollout.admitted < .max else { return "all" }
        let count = Int(rollout.admitted / 1000)
        return fleet.prefix(count) + "|" + fleet.dropFirst(count)
    }

    /// In seconds: when it was admitted, has reported, and since when reports are read; `pause`; from when on it is silent.
    @Test(
        arguments: [
            (0, nil, 0, 600, 600),
            (0, 50, 0, 600, 650),
            (50, 0, 0, 600, 650),
            (0, 0, 100, 600, 700),
            (0, nil, 0, 60, 180),
        ] as [(Int64, Int64?, Int64, Int64, Int64)])
    func anAdmittedMachineIsSilent(
        admittedAt: Int64, seenAt: Int64?, readableSince: Int64, pause: Int64, from: Int64
    ) {
        let start = BootTime(milliseconds: 5000)
        let silentFrom = RolloutPolicy.silentFrom(
            admittedAt: start + Seconds(admittedAt), seenAt: seenAt.map { start + Seconds($0) },
            readableSince: start + Seconds(readableSince),
            RolloutConfiguration(canaries: 1, atOnce: 5, pause: Seconds(pause)))
        #expect(silentFrom == start + Seconds(from))
    }

    @Test func allWantedCanariesHaveDelivered() {
        func have(_ fleet: String, _ canaries: Int) -> Bool {
            let machines = fleet.enumerated().map { number, letter in
                RolloutPolicy.Machine(
                    name: "app\(number)", rank: UInt64(number), hasDelivered: letter == "d", isSilent: letter == "s")
            }
            let rollout = Rollout(of: SecretName(Fingerprint(leadingBytes: 1)), admitted: 1)
            return RolloutPolicy.haveCanariesDelivered(
                rollout, machines, RolloutConfiguration(canaries: canaries, atOnce: 5, pause: 600))
        }
        #expect(have("d---", 1))
        #expect(!have("d---", 2), "a further canary is wanted")
        #expect(have("dd--", 2))
        #expect(have("d", 2), "there is no second machine")
        #expect(!have("--dd", 2), "they were not admitted")
        #expect(!have("ss", 1), "nothing is known of any machine")
        #expect(!have("", 1))
    }
}
