import AppleClientSecret
import Model
import Rotation
import TestSupport

/// Machines that sign and machines that follow: around a store, or around one place to which a signer's secret is posted.
/// From there something else copies into a file on each follower, when and as well as it can.
final class Fleet {
    private struct Parcel {
        let at: Int64
        /// The machine to whose file it is copied; nil for the place from which all files are copied.
        let to: String?
        let offer: Offer?
    }

    var random: SeededGenerator
    let mistake: FleetMistake?
    let kind: FleetKind
    /// Nil where secrets are handed on by files.
    let board: Noticeboard?
    /// How signers let machines deliver; nil where they let them all.
    private(set) var rollout: RolloutConfiguration?
    private(set) var machines: [Machine] = []
    private var watches: [String: MachineWatch] = [:]
    private var actionWatch: ActionWatch?
    /// True time, in milliseconds of the boot clock.
    private(set) var boot: Int64 = 0
    /// Since when nothing is wrong; nil while something is.
    private(set) var goodSince: Int64? = 0
    /// When a fault last struck or ended, or a machine appeared or was gone.
    private var restlessAt: Int64 = 0

    /// What lies where all followers' files are copied from; nil: nothing.
    private(set) var posted: Offer?
    private var postedAt: Int64 = 0
    /// Every genuine secret that was posted, the latest last.
    var history: [SecretInfo] = []
    /// Every secret that a key of the fleet's has signed.
    private(set) var made: [Fingerprint: SecretInfo] = [:]
    /// Those that were made by a clock that was behind.
    private var misdated: Set<Fingerprint> = []
    /// The signer whose secret is posted.
    var exporter: String?
    private var exported: SecretInfo?
    /// Machines that are not reached.
    private(set) var unreached: Set<String> = []
    private var parcels: [Parcel] = []

    /// The number of the key that signs, and of those that followers accept, in the order of preference.
    var key = 1
    var accepted = [1]

    private var born = 0
    private(set) var mints = 0
    private(set) var steps = 0
    var met: [String: Int] = [:]
    private let log: ((String) -> Void)?

    init(seed: UInt64, kind: FleetKind, mistake: FleetMistake?, log: ((String) -> Void)?) {
        random = SeededGenerator(seed: seed)
        self.kind = kind
        self.mistake = mistake
        board = kind == .files ? nil : Noticeboard()
        if kind == .rollouts {
            rollout = RolloutConfiguration(
                canaries: 1 + Int(random.next() % 2), atOnce: [5, 20, 50][Int(random.next() % 3)],
                pause: [120, 300, 600, 1200][Int(random.next() % 4)])
        }
        self.log = log
        actionWatch = rollout.map(ActionWatch.init)
    }

    var signers: [Machine] { machines.filter(\.isSigner) }

    var followers: [Machine] { machines.filter { !$0.isSigner } }

    /// The true time.
    var wall: WallTime { WallTime(secondsSinceEpoch: 1_800_000_000 + boot / 1000) }

    func say(_ text: @autoclosure () -> String) {
        if let log { log("\(wall) \(boot % 1000) == \(text())") }
    }

    // MARK: Machines

    @discardableResult func add(isSigner: Bool) -> Machine {
        born += 1
        let name = "\(isSigner ? "signer" : "app")\(born)"
        let seed = random.next()
        let machine = Machine(
            name, isSigner: isSigner, keys: isSigner ? [key] : accepted, seed: seed, jitter: jitter(seed), at: boot,
            mistake: mistake, board: board, rollout: rollout)
        machine.log = log
        machine.minted = { [unowned self, unowned machine] in try noteMint($0, machine) }
        machines.append(machine)
        watches[name] = MachineWatch(machine)
        restlessAt = boot
        if isSigner { exporter = exporter ?? name } else { copy(to: machine) }
        say("\(name) appears")
        return machine
    }

    /// A machine's place in the window for renewals, which no two signers share.
    private func jitter(_ seed: UInt64) -> Double {
        let jitter = Double(seed % 101) / 100
        return signers.contains { $0.renewalJitter == jitter } ? 1 - jitter * 0.99 : jitter
    }

    func remove(_ machine: Machine) {
        say("\(machine.name) is gone for good")
        machines.removeAll { $0 === machine }
        watches[machine.name] = nil
        restlessAt = boot
        if exporter == machine.name { exporter = nil }
    }

    // MARK: What is posted

    /// Puts something where it is copied from, which may be anything.
    func post(_ offer: Offer?) {
        say("posted: \(offer.map { "\($0)".prefix(90).description } ?? "nothing")")
        posted = offer
        postedAt = boot
        if case .secret(let secret)? = offer, made[secret.fingerprint] == secret, history.last != secret {
            history.append(secret)
        }
        for machine in followers { copy(to: machine) }
    }

    /// Notes a secret that one of the fleet's keys has signed elsewhere.
    func note(_ secret: SecretInfo) { made[secret.fingerprint] = secret }

    /// Copies what is posted to a machine, some time later; the latest copy arrives last.
    func copy(to machine: Machine) {
        guard kind == .files, !unreached.contains(machine.name) else { return }
        parcels.removeAll { $0.to == machine.name }
        send(posted, to: machine.name, within: 120_000)
    }

    private func send(_ offer: Offer?, to machine: String?, within milliseconds: UInt64) {
        parcels.append(Parcel(at: boot + 1 + Int64(random.next() % milliseconds), to: machine, offer: offer))
    }

    func cut(_ machine: Machine) {
        if board != nil { return machine.cutOff() }
        unreached.insert(machine.name)
        parcels.removeAll { $0.to == machine.name }
    }

    private func deliver() {
        for parcel in parcels.filter({ $0.at <= boot }) {
            if let name = parcel.to {
                machines.first { $0.name == name }?.offer(parcel.offer)
            } else {
                post(parcel.offer)
            }
        }
        parcels.removeAll { $0.at <= boot }
    }

    /// Posts what the exporting signer has published anew.
    private func export() {
        guard kind == .files, let exporter, !unreached.contains(exporter),
            let secret = machines.first(where: { $0.name == exporter })?.published, secret != exported
        else { return }
        exported = secret
        parcels.removeAll { $0.to == nil }
        send(.secret(secret), to: nil, within: 30_000)
    }

    // MARK: Faults

    func fault() {
        goodSince = nil
        restlessAt = boot
        board?.disturbedAt = boot
    }

    /// Ends every fault; what is posted is the exporting signer's secret again.
    func fix() {
        say("fixed")
        for machine in machines { machine.fix() }
        if exporter == nil { exporter = signers.first?.name }
        unreached = []
        exported = nil
        for machine in followers { copy(to: machine) }
        export()
        goodSince = boot
        restlessAt = boot
        board?.disturbedAt = boot
    }

    /// Has polls come in time from now on, as after anything that happens.
    func stir() { restlessAt = boot }

    /// Whether nothing has happened for so long that nobody has anything left to do but to look again.
    private var isAtRest: Bool {
        guard let board else { return false }
        let latest = machines.reduce(max(restlessAt, board.changedAt, board.reportsChangedAt)) {
            max($0, $1.disturbedAt)
        }
        // A rollout goes on by polls alone.
        return boot - latest > (board.isRollingOut ? 21_600_000 : 4_500_000)
    }

    /// While nothing happens, polls come late, as if the processes were stopped for most of the time: there are too many.
    private func settleDown() {
        let rest: Int64 = isAtRest ? 43_200_000 : 0
        for machine in machines { machine.rest = rest }
    }

    // MARK: Time

    /// Runs until so many seconds have passed, checking the promises after every step of every machine.
    func run(for seconds: Int64) throws {
        let end = boot + seconds * 1000
        settleDown()
        while let moment = nextMoment, moment <= end {
            pass(until: moment)
            deliver()
            spread()
            for machine in machines where try machine.advance() {
                steps += 1
                try watch(machine)
                spread()
            }
            export()
            settleDown()
        }
        pass(until: end)
        for machine in machines {
            _ = try machine.advance()
            try watch(machine)
        }
        try checkAgreement()
    }

    private var nextMoment: Int64? {
        (machines.map(\.nextMoment) + [parcels.map(\.at).min(), board?.nextMoment]).compactMap { $0 }.min()
    }

    /// Tells those who watch the store what has changed there.
    private func spread() {
        guard let board else { return }
        board.pass(until: boot)
        let changes = board.takeChanges()
        guard !changes.isEmpty else { return }
        for machine in machines { machine.hint(changes, on: board) }
    }

    private func pass(until moment: Int64) {
        boot = max(boot, moment)
        for machine in machines { machine.clocks.pass(until: boot) }
    }

    private func noteMint(_ secret: SecretInfo, _ machine: Machine) throws {
        mints += 1
        note(secret)
        if board != nil { history.append(secret) }
        actionWatch?.note(secret, at: boot)
        if machine.clocks.error < 0 { misdated.insert(secret.fingerprint) }
        try watches[machine.name]?.checkMint(machine)
    }

    private func watch(_ machine: Machine) throws {
        if machine.clocks.error != 0 { board?.disturbedAt = boot }
        try watches[machine.name]?.see(machine, made)
        try actionWatch?.see(machine, in: self)
    }

    /// Two hours after the last fault every follower holds what is posted, or something better that no signer has.
    private func checkAgreement() throws {
        if let board { return try checkAgreement(around: board) }
        // A renewal may be spreading.
        guard let goodSince, boot - goodSince > 7_200_000, boot - postedAt > 900_000, case .secret(let best)? = posted
        else { return }
        for machine in followers where boot - machine.disturbedAt > 7_200_000 {
            guard let held = machine.published else {
                throw FleetViolation(.agree, "\(machine.name) holds nothing")
            }
            guard held == best || machine.prefers(held, to: best) else {
                throw FleetViolation(
                    .agree, "\(machine.name) holds \(held.fingerprint), and \(best.fingerprint) is posted")
            }
        }
    }

    /// Two hours after the last fault every machine holds what the store holds for the key, and the store is as it should be.
    private func checkAgreement(around board: Noticeboard) throws {
        guard let goodSince, boot - goodSince > 7_200_000 else { return }
        let entry = board.places[FleetScenario.place(key)]
        // A renewal may be spreading.
        if let entry, boot - entry.at < 900_000 { return }
        guard case .secret(let best)? = entry?.value else {
            throw FleetViolation(.agree, "the store holds no secret of the key")
        }
        for machine in machines where boot - machine.disturbedAt > 7_200_000 && machine.published != best {
            // By a clock that was behind a signer has made an earlier one: the others keep what they have until the next.
            if misdated.contains(best.fingerprint), let held = machine.published, machine.prefers(held, to: best) {
                continue
            }
            let held = machine.published.map { "\($0.fingerprint)" } ?? "nothing"
            throw FleetViolation(.agree, "\(machine.name) holds \(held), and the store \(best.fingerprint)")
        }
        try checkRollout(on: board)
        // Signers read the reports every five minutes.
        guard boot - board.reportsChangedAt > 600_000 else { return }
        try RollCall(board: board, boot: boot, machines: machines, pause: rollout.map { $0.pause.count * 1000 }).check()
    }

    /// Hours after the last fault the rollout of the store's secret is finished, unless somebody or a machine that fails
    /// holds it.
    private func checkRollout(on board: Noticeboard) throws {
        guard let rollout, let goodSince, let place = board.places[FleetScenario.place(key)],
            case .secret(let secret) = place.value,
            // Machines that hold a later one never deliver it, until the next.
            !misdated.contains(secret.fingerprint)
        else { return }
        let found = board.rollouts[FleetScenario.place(key)]?.value
        guard let found, found.secret.isSame(as: secret.name) else {
            throw FleetViolation(.agree, "nothing in the store says how far \(secret.fingerprint) is rolled out")
        }
        guard found.state == .going, found.admitted < .max else { return }
        // Who reports and is silent, or never was, is waited for as well.
        let each = rollout.pause.count * 1000 + 240_000
        let since = machines.reduce(max(goodSince, place.at, board.rolloutTamperedAt)) { max($0, $1.disturbedAt) }
        let reportsTamperedAt = board.tamperedAt.values.max() ?? Noticeboard.longAgo
        // It is finished once whoever has not reported for a day counts as silent.
        guard boot - since > Int64(board.reports.count + 3) * each + 3_600_000 + RollCall.day,
            boot - reportsTamperedAt > RollCall.day
        else { return }
        throw FleetViolation(.agree, "the rollout of \(secret.fingerprint) is not finished")
    }
}
