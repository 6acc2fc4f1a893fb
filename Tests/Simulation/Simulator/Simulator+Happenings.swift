package import Model
import Rotation
import TestSupport

/// What happens to the daemon.
extension Simulator {
    /// Kills the daemon, which loses everything that was not written; it is started again after a time, but not while
    /// its configuration would be refused.
    package func die(downFor milliseconds: UInt64 = 1, byPowerCut isPowerCut: Bool = false) {
        guard isAlive else { return }
        say("== \(isPowerCut ? "power cut" : "death"), for \(milliseconds) ms")
        if isPowerCut {
            outside.meet(.powerCut)
            outside.cutPower(&random)
        }
        deaths += 1
        isAlive = false
        doom = nil
        agenda.clear()
        stuck = []
        outside.forget()
        watch.forget()
        verdicts.forget()
        stateChangeActions.forget(keeping: outside.told, at: boot)
        disturb()
        schedule(.birth, after: milliseconds)
    }

    func begin() {
        guard !outside.broken.isTextBad else {
            schedule(.birth, after: 1000)
            return
        }
        isAlive = true
        bornAt = boot
        wasClockSet = false
        rotation = Self.newborn(seed: random.next(), hostJitter, at: now.wall)
        schedule(.input(.configured(outside.configuration)), after: 1)
        disturb()
    }

    package func stepClock(by seconds: Int64) {
        say("== clock set by \(seconds) s")
        stateChangeActions.setClock(isAlive: isAlive)
        clocks.set(by: seconds)
        if isAlive { wasClockSet = true }
        // The timer reports it at once.
        if isAlive { schedule(.input(.clockSet), after: 0) }
        disturb()
    }

    /// Suspends the machine: both clocks go on, nothing runs.
    package func suspend(for seconds: Int64) {
        say("== suspended for \(seconds) s")
        clocks.pass(until: boot + seconds * 1000)
        watch.sleep(for: seconds * 1000)
        if sabotage == .sleepsAfterSuspends { oversleep += seconds * 1000 }
        disturb()
    }

    package func reload(_ configuration: Configuration) {
        if !outside.broken.isTextBad { outside.configure(configuration) }
        ask(.reload)
    }

    /// Sends a request that has to be answered.
    package func ask(_ request: Request) {
        guard isAlive else { return }
        requestIDs += 1
        let requestID = RequestID(number: requestIDs)
        watch.asked(requestID, at: boot)
        if case .renew(let renewal) = request, !renewal.deliverOnly { watch.forced.formUnion(whoIsRenewed(renewal)) }
        if case .renew(let renewal) = request {
            for (name, entry) in outside.configuration.clients
            where renewal.clients.isEmpty || renewal.clients.contains(name) {
                watch.asked.formUnion(entry.outputs.map(\.path))
            }
        }
        schedule(.input(.asked(request, requestID)), after: 1)
        disturb()
    }

    /// Reports a change, as the watcher does; a dead daemon hears nothing.
    package func noteChange(_ resource: Resource) {
        guard isAlive else { return }
        if sabotage?.hears(.changeNoticed(resource)) != false { schedule(.input(.changeNoticed(resource)), after: 1) }
        disturb(resource)
    }

    /// Loses the state directory's content, which a living daemon notices.
    package func loseRecords() {
        say("== state lost")
        outside.loseRecords()
        watch.loseState()
        stateChangeActions.forgetTold()
        if isAlive, sabotage?.hears(.stateLost) != false { schedule(.input(.stateLost), after: 1) }
    }

    /// Ends every fault but a wrong clock; hung jobs go on.
    package func fix() {
        say("== fixed")
        doom = nil
        let returned = outside.away.map(Resource.file) + outside.configuration.files.keys.map(Resource.file)
        let keys = outside.broken.keys.keys.map(Resource.key)
        let wasTextBad = outside.broken.isTextBad
        outside.fix()
        for job in stuck { schedule(.effect(job), after: random.next() % 50) }
        stuck = []
        // The watcher reports a file or a key that is back, but nobody a disk that has room again.
        for resource in returned.sorted(by: { "\($0)" < "\($1)" }) where outside.returned(resource) {
            noteChange(resource)
        }
        for key in keys.sorted(by: { "\($0)" < "\($1)" }) { noteChange(key) }
        // Whoever has fixed the text may reload it, or only save it.
        if wasTextBad { if random.next() % 2 == 0 { ask(.reload) } else { noteChange(.configuration) } }
        disturb()
    }

    /// Notes an event that affects all clients, or those that share a resource: time limits of promises start anew.
    package func disturb(_ resource: Resource? = nil) {
        watch.disturb(resource, outside.configuration, at: boot)
        stateChangeActions.disturb(at: boot)
    }
}
