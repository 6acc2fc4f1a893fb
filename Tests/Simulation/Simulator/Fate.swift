import AppleClientSecret
import Rotation

/// What befalls a daemon in the years of its life: things break, are mended, and in between long quiet stretches pass.
struct Fate {
    let simulator: Simulator
    /// Clients that were taken out of the configuration.
    var removed: [ClientName: ClientEntry] = [:]

    init(_ simulator: Simulator) {
        self.simulator = simulator
    }

    var outside: Outside { simulator.outside }

    mutating func live(years: Int64) throws {
        outside.editAsStranger(Scenario.environment)
        simulator.notice(.file(Scenario.environment))
        let end = simulator.now.boot.milliseconds + years * 365 * Scenario.day * 1000
        while simulator.now.boot.milliseconds < end {
            try strike()
            try simulator.run(for: chance(4) ? draw(7200) : draw(900))
            if chance(2) { try strike() }
            simulator.mend()
            try simulator.run(for: 7200 + draw(pick([Scenario.day / 24, 20 * Scenario.day, 200 * Scenario.day])))
            try restartInPeace()
            correctClock()
        }
    }

    private func correctClock() {
        simulator.isSynced = true
        if simulator.clockError != 0, chance(2) { simulator.stepClock(by: -simulator.clockError) }
    }

    /// A restart while all is well mints nothing and tells nobody.
    private func restartInPeace() throws {
        // Not when a renewal is due just then, which is no fault of the restart's, nor when nobody knows any more who was
        // told of what.
        guard simulator.isAlive, outside.remembersAll, let due = simulator.wake.wall, due > simulator.now.wall + 3600
        else { return }
        let before = (outside.mints, outside.runs)
        let pages = outside.pages
        simulator.die()
        try simulator.run(for: 600)
        guard (outside.mints, outside.runs) == before else {
            throw Violation(.pace, "a restart has minted or run an action")
        }
        guard outside.pages == pages else { throw Violation(.notices, "a restart has told of what is no news") }
    }

    // MARK: Chance

    func draw(_ bound: Int64) -> Int64 {
        Int64(simulator.random.next() % UInt64(bound))
    }

    func chance(_ of: Int) -> Bool {
        draw(Int64(of)) == 0
    }

    func pick<Element>(_ all: [Element]) -> Element {
        all[Int(simulator.random.next() % UInt64(all.count))]
    }

    func pickFile() -> AbsolutePath {
        pick(outside.configuration.files.keys.sorted())
    }

    func pickClient() -> ClientName {
        pick(outside.configuration.clients.keys.sorted())
    }

    func pickKey() -> KeyName {
        pick(outside.configuration.keys.keys.sorted())
    }

    // MARK: Strikes

    private mutating func strike() throws {
        switch draw(28) {
        case 0, 1, 2: try kill()
        case 3, 4: breakDisk()
        case 5: breakState()
        case 6, 7: breakKey()
        case 8, 9: breakAction()
        case 10, 11: try setClock()
        case 12: try sleep()
        case 13, 14, 15: reconfigure()
        case 16: breakText()
        case 17: try liveFast()
        case 18: try contest()
        default: try meddle()
        }
    }

    /// Dies right before or after a piece of work, which is given a reason; as often as not in the middle of a renewal.
    private func kill() throws {
        for _ in 0...draw(3) {
            let boundary = pick(Fault.Boundary.all)
            var seconds = draw(2)
            switch boundary.work {
            case .recall, .recallTold: simulator.die(downFor: UInt64(draw(1000)))
            case .readConfiguration: simulator.ask(.reload)
            case .checkConfiguration:
                simulator.notice(.configuration)
                seconds = 3
            case .keepTold:
                breakKey()
                seconds = 60
            default: simulator.ask(.renew(.init(clients: chance(2) ? [pickClient()] : [])))
            }
            simulator.doom = boundary
            try simulator.run(for: seconds)
            if chance(2) {
                if chance(2) { outside.meet(.powerCut) }
                simulator.die(downFor: UInt64(draw(60_000)), byPowerCut: chance(2))
            }
        }
    }

    private func breakDisk() {
        switch draw(5) {
        case 0: outside.broken.isDiskFull = true
        case 1:
            let directory = pickFile().directory
            outside.remove(directory: directory)
            for path in outside.configuration.files.keys.sorted() where path.directory == directory {
                simulator.notice(.file(path))
            }
        case 2: outside.broken.lateWrites.insert(pickFile())
        case 3: outside.broken.hanging.insert(pickFile())
        default:
            let codes: [Trouble.Code] = [.ioError, .quotaExceeded, .readOnlyFileSystem, .permissionDenied]
            outside.broken.writes[pickFile()] = pick(codes)
        }
        askToRenew()
        if chance(4) { simulator.die(downFor: UInt64(draw(5000))) }
    }

    private func breakState() {
        if chance(2) { outside.broken.isStateGone = true } else { simulator.loseRecords() }
        if chance(2) { askToRenew() }
        if chance(2) { simulator.die(downFor: UInt64(draw(5000))) }
    }

    private func breakKey() {
        let key = pickKey()
        switch draw(4) {
        case 0: outside.broken.keys[key] = .keyMissing
        case 1: outside.broken.keys[key] = .keyUnreadable
        default: swap(key)
        }
        simulator.notice(.key(key))
        if chance(3) { askToRenew() }
    }

    private func swap(_ key: KeyName) {
        // In the middle of a renewal it may be another one that signs than was read.
        if chance(2) {
            askToRenew()
            try? simulator.run(for: 0)
        }
        outside.meet(.keySwapped)
        outside.swapKey(key, number: Int(draw(3)))
    }

    private func breakAction() {
        guard let action = pickAction() else { return }
        outside.broken.actions[action] = pick(Broken.Failing.allCases)
        askToRenew()
    }

    func pickAction() -> ActionID? {
        let actions = outside.configuration.clients.values.flatMap(\.onChange) + outside.configuration.onStateChange
        let all = Set(actions.map(\.id)).sorted()
        return all.isEmpty ? nil : pick(all)
    }

    func askToRenew() {
        simulator.ask(.renew(.init(clients: chance(2) ? [] : [pickClient()])))
    }

    // MARK: Time

    private func setClock() throws {
        let size = pick(Fault.Size.allCases)
        let seconds = size.draw(&simulator.random)
        if chance(3) {
            outside.meet(.clockUnsynchronised)
            simulator.isSynced = false
        }
        if chance(4) {
            // The machine starts with it.
            if size == .years { outside.meet(.clockWrongAtStart) }
            simulator.die(downFor: UInt64(draw(60_000)), byPowerCut: true)
        }
        if chance(2) {
            outside.meet(.clockAhead(size))
            simulator.stepClock(by: seconds)
        } else {
            outside.meet(.clockBack(size))
            simulator.stepClock(by: -seconds)
        }
        if simulator.now.wall.secondsSinceEpoch < Simulator.builtAt { outside.meet(.clockBeforeBuild) }
        if chance(2) {
            try simulator.run(for: 10 + draw(3600))
            simulator.stepClock(by: -simulator.clockError)
        }
    }

    private func sleep() throws {
        let size = pick([Fault.Size.minutes, .hours, .days, .months])
        outside.meet(.suspended(size))
        if chance(2) {
            askToRenew()
            try simulator.run(for: 0)
        }
        simulator.suspend(for: size.draw(&simulator.random))
        // Nothing but its own timers tells that time has passed.
        try simulator.run(for: 2 * 3600)
    }
}
