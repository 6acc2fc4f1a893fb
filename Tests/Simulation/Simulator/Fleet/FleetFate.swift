import AppleClientSecret
import Failures
import Model
import Rotation
import TestSupport

/// The events of a fleet's simulated years: faults, their fixes, and long quiet periods in between.
struct FleetFate: Chance {
    let fleet: Fleet

    /// The number of the last key: its id has one digit.
    private static let lastKey = 9
    private static let fewestFollowers = 2
    private static let mostFollowers = 5

    func live(days: Int64) throws {
        for _ in 0..<1 + draw(2) { fleet.add(isSigner: true) }
        for _ in 0..<3 { fleet.add(isSigner: false) }
        try fleet.run(for: 3 * 3600)
        let end = fleet.boot + days * Scenario.day * 1000
        while fleet.boot < end {
            try strike()
            try fleet.run(for: chance(4) ? draw(7200) : draw(900))
            if chance(2) { try strike() }
            fleet.fix()
            if fleet.rollout != nil, !chance(3) { resumeRollouts() }
            let longest = fleet.kind == .files ? 40 * Scenario.day : 30 * Scenario.day
            try fleet.run(for: 7500 + draw(pick([Scenario.day / 24, 10 * Scenario.day, longest])))
            // A restart in peace mints nothing and goes back nowhere.
            pick(fleet.machines).die()
            try fleet.run(for: 600)
        }
    }

    /// A short life with many machines, in which nothing but one kind of fault strikes.
    func live(with fault: FleetFault) throws {
        fleet.add(isSigner: true)
        for _ in 0..<Self.mostFollowers { fleet.add(isSigner: false) }
        try fleet.run(for: 3 * 3600)
        try strike(fault)
        try fleet.run(for: 7200)
        fleet.fix()
        try fleet.run(for: Scenario.day + draw(Scenario.day))
    }

    private func strike() throws { try strike(pick(FleetFault.decks[fleet.kind] ?? [])) }

    private func strike(_ fault: FleetFault) throws {
        fleet.say("strike: \(fault)")
        fleet.fault()
        let isMet = try bring(fault)
        if isMet { fleet.met[fault.rawValue, default: 0] += 1 }
    }

    /// Brings a fault about; returns whether there was occasion for it.
    private func bring(_ fault: FleetFault) throws -> Bool {
        switch fault {
        case .kill: try kill()
        case .powerCut: for machine in fleet.machines { machine.die(downFor: UInt64(draw(600_000)), byPowerCut: true) }
        case .breakDisk: breakDisk()
        case .breakAction:
            pick(fleet.machines).outside.broken.actions[FleetScenario.action.id] = pick(Broken.Failing.allCases)
            renew()
        case .loseState: loseState()
        case .damageOutput:
            let machine = pick(fleet.machines)
            machine.damage(pick(FleetScenario.outputs), isDeleted: chance(2))
            if chance(2) { machine.die(downFor: UInt64(draw(5000))) }
        case .setClock: try setClock()
        case .breakKey: breakKey()
        case .renew: renew()
        case .cutOff: try cutOff()
        case .emptied: empty()
        case .replayed: offer(.secret(fleet.history.isEmpty ? forged() : pick(fleet.history)))
        case .forged: offer(.secret(forged()))
        case .foreign: offer(.secret(foreign()))
        case .future: offer(.secret(future()))
        case .junk: offer(.junk)
        case .huge: offer(.huge)
        case .unreadable: pick(fleet.followers).offer(.unreadable)
        case .replaceKey: return try replaceKey()
        case .appear:
            guard fleet.followers.count < Self.mostFollowers else { return false }
            fleet.add(isSigner: fleet.signers.count < 2 && chance(fleet.board == nil ? 3 : 1))
        case .vanish:
            guard fleet.followers.count > Self.fewestFollowers else { return false }
            fleet.remove(pick(fleet.followers))
        case .loseSigner: return try loseSigner()
        case .renewEverywhere: for machine in fleet.signers { machine.ask(.renew(.init())) }
        case .freeze, .ambiguousPuts, .outOfSpace, .muteWatches, .forbidden: try breakStore(fault)
        case .restored: try restore()
        case .contested: try contest()
        case .forgedReports: forgeReports()
        case .brokenReloads: try breakReloads()
        case .silence: try silence()
        case .lostStore: try loseStore()
        case .orders: try orderRollouts()
        case .forgedRollouts: try forgeRollouts()
        }
        return true
    }

    // MARK: Machines

    /// Machines die right before or after a kind of job, while a new secret spreads.
    private func kill() throws {
        for machine in fleet.machines where chance(2) {
            machine.doom = pick(Fault.boundaries)
            if fleet.board != nil { machine.link.doom = pick(StoreLink.boundaries) }
        }
        renew()
        try fleet.run(for: 120 + draw(300))
        if chance(2) { pick(fleet.machines).die(downFor: UInt64(draw(600_000)), byPowerCut: chance(2)) }
    }

    private func breakDisk() {
        let machine = pick(fleet.machines)
        let path = pick(FleetScenario.outputs).path
        switch draw(3) {
        case 0: machine.outside.broken.isDiskFull = true
        case 1: machine.outside.broken.lateWrites.insert(path)
        default: machine.outside.broken.writes[path] = pick([.ioError, .readOnlyFileSystem, .permissionDenied])
        }
        renew()
        if chance(3) { machine.die(downFor: UInt64(draw(5000))) }
    }

    private func loseState() {
        let machine = pick(fleet.machines)
        if chance(2) { machine.outside.broken.isStateGone = true } else { machine.loseRecords() }
        if chance(2) { renew() }
        if chance(2) { machine.die(downFor: UInt64(draw(5000))) }
    }

    private func setClock() throws {
        let machine = pick(fleet.machines)
        let seconds = pick(Fault.Size.allCases).draw(&fleet.random)
        machine.clocks.isSynced = chance(2)
        if chance(4) { machine.die(downFor: UInt64(draw(60_000)), byPowerCut: true) }
        machine.stepClock(by: chance(2) ? seconds : -seconds)
        if chance(2) { renew() }
        try fleet.run(for: draw(3600))
    }

    private func breakKey() {
        let machine = pick(fleet.signers)
        let name = machine.entry.key
        machine.outside.broken.keys[name] = pick([.keyMissing, .keyUnreadable])
        machine.noteChange(.key(name))
        if chance(2) { machine.ask(.renew(.init())) }
    }

    /// A signer is asked for a new secret.
    func renew() {
        pick(fleet.signers).ask(.renew(.init()))
    }

    /// Machines are not reached for minutes to weeks, in which a secret is renewed.
    private func cutOff() throws {
        let longest = pick([3600, Scenario.day, 30 * Scenario.day])
        // Not for weeks together with what is tried every minute.
        if longest > 3600 { fleet.fix() }
        fleet.fault()
        let isOfAll = chance(3)
        for machine in fleet.machines where isOfAll || chance(2) { fleet.cut(machine) }
        if chance(2) { renew() }
        try fleet.run(for: draw(longest))
        if chance(2) { renew() }
    }

    /// The signer whose secret is posted dies for good; another one takes its place, at once or days later.
    private func loseSigner() throws -> Bool {
        let name = fleet.board == nil ? fleet.exporter : pick(fleet.signers).name
        guard fleet.signers.count > 1, let machine = fleet.signers.first(where: { $0.name == name }) else {
            return false
        }
        fleet.fix()
        fleet.fault()
        if chance(2) { renew() }
        try fleet.run(for: draw(60))
        fleet.remove(machine)
        try fleet.run(for: draw(pick([3600, 20 * Scenario.day])))
        return true
    }

    /// A new key: followers accept both, then signers use it, and then followers accept it alone.
    private func replaceKey() throws -> Bool {
        guard fleet.key < Self.lastKey else { return false }
        let key = fleet.key + 1
        fleet.fix()
        fleet.fault()
        fleet.accepted = [key, fleet.key]
        for machine in fleet.followers {
            machine.reload(keys: fleet.accepted)
            try fleet.run(for: draw(3600))
        }
        fleet.key = key
        for machine in fleet.signers {
            machine.reload(keys: [key])
            if chance(3) { machine.doom = pick(Fault.boundaries) }
            try fleet.run(for: draw(Scenario.day))
            // Somebody has found the old secret.
            if chance(3), let old = fleet.history.last(where: { $0.keyID != FleetScenario.keyID(key) }) {
                offer(.secret(old))
                try fleet.run(for: draw(3600))
            }
        }
        fleet.fix()
        try fleet.run(for: 7200 + draw(10 * Scenario.day))
        fleet.accepted = [key]
        fleet.fault()
        for machine in fleet.followers { machine.reload(keys: [key]) }
        return true
    }

    // MARK: What is offered

    private func empty() {
        guard let board = fleet.board else { return offer(nil) }
        fleet.say("the store is emptied")
        board.empty(withReports: chance(2), now: fleet.boot)
        // A new secret may be on its way there.
        if chance(2) { renew() }
    }

    /// Something else is posted, or one machine's copy replaced by it.
    private func offer(_ offer: Offer?) {
        if fleet.board != nil { return tamper(with: offer) }
        if chance(2) { fleet.post(offer) } else { pick(fleet.followers).offer(offer) }
    }

    private var lifetime: Int64 {
        fleet.kind == .files ? FleetScenario.lifetime : FleetScenario.lifetimeOnStore
    }

    private func secret(
        key: Int, client: String = "com.example.web", ahead: Int64 = 0, isForged: Bool = false
    ) -> SecretInfo {
        let made = fleet.wall + Seconds(ahead)
        let claims = Claims(
            issuer: FleetScenario.team, keyID: FleetScenario.keyID(key), subject: sure(ClientID(client)), now: made,
            lifetime: sure(Lifetime(seconds: Seconds(lifetime))))
        let signer = isForged ? nil : pick(fleet.signers).outside.prints[FleetScenario.name(key)]
        return SecretInfo(
            fingerprint: Fingerprint(leadingBytes: fleet.random.next()), claims: claims, signer: signer)
    }

    private func forged() -> SecretInfo { secret(key: fleet.key, isForged: true) }

    /// What our key has signed for another client, or a key that nobody has pinned.
    private func foreign() -> SecretInfo {
        if chance(2) { return secret(key: fleet.key, client: "com.example.other") }
        let claims = secret(key: fleet.key).claims
        return SecretInfo(
            fingerprint: Fingerprint(leadingBytes: fleet.random.next()), claims: claims,
            signer: KeyDigest(String(repeating: "f", count: 64)))
    }

    private func future() -> SecretInfo {
        let secret = secret(key: fleet.key, ahead: pick([3600, 30 * Scenario.day, 3650 * Scenario.day]))
        fleet.note(secret)
        return secret
    }

    // MARK: Chance

    func next() -> UInt64 { fleet.random.next() }
}
