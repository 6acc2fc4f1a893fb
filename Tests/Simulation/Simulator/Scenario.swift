import AppleClientSecret
package import Rotation
import TestSupport

/// Values that every simulation shares.
package enum Scenario {
    package static let day: Int64 = 86_400

    /// The file that two clients share, with each other and with another program.
    package static var environment: AbsolutePath { sure(AbsolutePath("/srv/app/.env")) }

    /// Three clients: one alone, two that share an environment file and an action.
    package static func configuration(lifetimeInDays: Int64 = 90) -> Configuration {
        let team = sure(TeamID("DEF123GHIJ"))
        let keyID = sure(KeyID("ABC123DEFG"))
        let key = sure(KeyName("apple"))
        let lifetime = sure(Lifetime(seconds: Seconds(lifetimeInDays * day)))
        let environment = environment
        let location = sure(AbsolutePath("/etc/clientsecretd/AuthKey_ABC123DEFG.p8"))
        var clients: [ClientName: ClientEntry] = [:]
        for name in ["alone", "web", "native"] {
            let raw = Output(path: sure(AbsolutePath("/run/clientsecretd/out/\(name).jwt")), format: .raw)
            let shared = Output(path: environment, format: .env(variable: "SECRET_\(name)"))
            clients[sure(ClientName(name))] = ClientEntry(
                clientID: sure(ClientID("com.example.\(name)")), key: key, lifetime: lifetime,
                renewBefore: Seconds(lifetimeInDays * day / 3), outputs: name == "alone" ? [raw] : [raw, shared],
                onChange: [.exec(arguments: [name == "alone" ? "/bin/alone" : "/bin/shared"], timeout: 30)])
        }
        return Configuration(
            keys: [key: KeyEntry(team: team, keyID: keyID, location: .file(location))], clients: clients)
    }

    /// Lives through `years` in which things break, are mended and have long quiet stretches in between.
    package static func live(_ simulator: Simulator, years: Int64) throws {
        simulator.outside.editAsStranger(environment)
        let end = simulator.now.boot.milliseconds + years * 365 * day * 1000
        while simulator.now.boot.milliseconds < end {
            try strike(simulator)
            try simulator.run(for: Int64(simulator.random.next() % 7200))
            if simulator.random.next() % 2 == 0 { try strike(simulator) }
            simulator.mend()
            for path in simulator.outside.configuration.files.keys { simulator.tell(.stirred(.file(path))) }
            for key in simulator.outside.configuration.keys.keys { simulator.tell(.stirred(.key(key))) }
            let quiet: [Int64] = [day / 24, 10 * day, 150 * day]
            try simulator.run(
                for: 10_800 + Int64(simulator.random.next() % UInt64(quiet[Int(simulator.random.next() % 3)])))
            try restartInPeace(simulator)
        }
    }

    /// A restart while all is well mints nothing and tells nobody.
    private static func restartInPeace(_ simulator: Simulator) throws {
        // Not when a renewal is due just then, which is no fault of the restart's.
        guard let due = simulator.wake.wall, due > simulator.now.wall + 3600 else { return }
        let before = (simulator.outside.mints, simulator.outside.runs)
        simulator.die()
        try simulator.run(for: 600)
        if (simulator.outside.mints, simulator.outside.runs) != before {
            throw Violation("a restart has minted or run an action")
        }
    }

    private static func strike(_ simulator: Simulator) throws {
        let outside = simulator.outside
        switch simulator.random.next() % 13 {
        case 0, 1:
            // At any moment within the second after something has begun.
            simulator.tell(.asked(.renew(.init()), nil))
            for _ in 0...simulator.random.next() % 5 {
                try simulator.run(for: 0)
                simulator.die()
            }
        case 2:
            outside.faults.formUnion(Outside.Fault.allCases.filter { _ in simulator.random.next() % 3 == 0 })
            simulator.tell(.asked(.renew(.init()), nil))
        case 3:
            simulator.stepClock(by: Int64(simulator.random.next() % UInt64(400 * day)) - 200 * day)
        case 4:
            simulator.suspend(for: Int64(simulator.random.next() % UInt64(200 * day)))
            // Nothing but its own timers tells that time has passed.
            try simulator.run(for: 3 * 3600)
        case 5:
            let lifetimes: [Int64] = [10, 30, 90, 180]
            simulator.reload(configuration(lifetimeInDays: lifetimes[Int(simulator.random.next() % 4)]))
        case 6:
            for name in outside.prints.keys { outside.swapKey(name, number: Int(simulator.random.next() % 3)) }
        case 7, 8:
            // Another program damages a file; the watch tells.
            let paths = outside.configuration.files.keys.sorted()
            let path = paths[Int(simulator.random.next() % UInt64(paths.count))]
            if simulator.random.next() % 2 == 0 {
                outside.delete(path)
            } else {
                outside.files[path]?.slots = [:]
            }
            simulator.tell(.stirred(.file(path)))
        case 9:
            // A file system stops answering, and a death does not help.
            let paths = outside.configuration.files.keys.sorted()
            outside.hanging.insert(paths[Int(simulator.random.next() % UInt64(paths.count))])
            simulator.tell(.asked(.renew(.init()), nil))
            try simulator.run(for: 60)
            if simulator.random.next() % 2 == 0 { simulator.die() }
        case 10, 11:
            // Another program saves the environment file, perhaps as it was before the last renewal.
            let environment = environment
            let old = outside.files[environment]
            if simulator.random.next() % 2 == 0 {
                simulator.tell(.asked(.renew(.init()), nil))
                try simulator.run(for: 0)
            }
            outside.editAsStranger(environment, old: old)
            simulator.tell(.stirred(.file(environment)))
        default:
            outside.faults.insert(.diskFull)
            outside.loseRecords()
            simulator.die()
        }
        simulator.disturb()
    }
}

/// A value of the scenario's own, which was written to be valid.
func sure<Value>(_ value: Value?) -> Value {
    guard let value else { fatalError("a \(Value.self) of the scenario's is not valid") }
    return value
}
