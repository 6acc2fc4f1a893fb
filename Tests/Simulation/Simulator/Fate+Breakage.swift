import Failures
import Model
import Rotation

/// Faults, and the moments at which a daemon is killed.
extension Fate {
    /// Dies right before or after a kind of job, after triggering one; often in the middle of a renewal.
    func kill() throws {
        for _ in 0...draw(3) {
            let boundary = pick(hasTargets ? Fault.boundariesWithTargets : Fault.boundaries)
            var seconds = draw(2)
            switch boundary.work {
            case .recall, .recallReportedStates, .readTarget: simulator.die(downFor: UInt64(draw(1000)))
            case .readConfiguration: simulator.ask(.reload)
            case .checkConfiguration:
                simulator.noteChange(.configuration)
                seconds = 3
            case .push:
                // Of all clients, for few have targets; APIs take seconds.
                simulator.ask(.renew(.init()))
                seconds = 60
            case .keepReportedStates:
                breakKey()
                seconds = 60
            default: simulator.ask(.renew(.init(clients: chance(2) ? [pickClient()] : [])))
            }
            simulator.doom = boundary
            try simulator.run(for: seconds)
            if chance(2) {
                simulator.die(downFor: UInt64(draw(60_000)), byPowerCut: chance(2))
            }
        }
    }

    func breakDisk() {
        switch draw(5) {
        case 0: outside.broken.isDiskFull = true
        case 1:
            let directory = pickFile().directory
            outside.remove(directory: directory)
            for path in outside.configuration.files.keys.sorted() where path.directory == directory {
                simulator.noteChange(.file(path))
            }
        case 2: outside.broken.lateWrites.insert(pickFile())
        case 3: outside.broken.hanging.insert(pickFile())
        default:
            let codes: [Failure.Code] = [.ioError, .quotaExceeded, .readOnlyFileSystem, .permissionDenied]
            outside.broken.writes[pickFile()] = pick(codes)
        }
        askToRenew()
        if chance(4) { simulator.die(downFor: UInt64(draw(5000))) }
    }

    func breakState() {
        if chance(2) { outside.broken.isStateGone = true } else { simulator.loseRecords() }
        if chance(2) { askToRenew() }
        if chance(2) { simulator.die(downFor: UInt64(draw(5000))) }
    }

    func breakKey() {
        let key = pickKey()
        switch draw(4) {
        case 0: outside.broken.keys[key] = .keyMissing
        case 1: outside.broken.keys[key] = .keyUnreadable
        default: swap(key)
        }
        simulator.noteChange(.key(key))
        if chance(3) { askToRenew() }
    }

    private func swap(_ key: KeyName) {
        // Half the time during a renewal, so that another key may sign than was read.
        if chance(2) {
            askToRenew()
            try? simulator.run(for: 0)
        }
        outside.meet(.keySwapped)
        outside.swapKey(key, number: Int(draw(3)))
    }

    func breakAction() {
        guard let action = pickAction() else { return }
        outside.broken.actions[action] = pick(Broken.Failing.allCases)
        askToRenew()
    }

    /// Apple is not reached or refuses what it is asked about, for minutes or for weeks.
    func breakApple() throws {
        // Not for weeks together with a broken disk, which is tried every minute.
        let longest = pick([3600, 3600, Scenario.day, 40 * Scenario.day])
        if longest > 3600 { simulator.fix() }
        startAppleFailing()
        if chance(2) { askToRenew() }
        try simulator.run(for: draw(longest))
    }

    func startAppleFailing() {
        let asked = outside.configuration.clients.filter(\.value.verify).keys.sorted()
        switch draw(5) {
        case 0: outside.apple.failureMode = .isDown
        case 1: outside.apple.failureMode = .isWrong
        case 2: outside.apple.failureMode = .isFlapping
        case 3: if !asked.isEmpty { outside.apple.failureMode = .refuses(pick(asked)) }
        default:
            outside.apple.failureMode = .knows(Set(outside.prints.values))
            let key = pickKey()
            outside.swapKey(key, number: Int(3 + draw(3)))
            simulator.noteChange(.key(key))
        }
    }

    func askToRenew() {
        simulator.ask(.renew(.init(clients: chance(2) ? [] : [pickClient()])))
    }
}
