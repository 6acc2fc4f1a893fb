import AppleClientSecret
import Failures
import Model
import Rotation

/// What administrators and other programs do to a daemon.
extension Fate {
    // MARK: Administrators

    mutating func reconfigure() {
        var wanted = outside.configuration
        let client = pickClient()
        switch draw(9) {
        case 0, 1:
            let days = pick([2, 10, 30, 90, 180] as [Int64])
            let old = wanted.clients[client]?.lifetime.seconds.count ?? 0
            outside.meet(days * Scenario.day < old ? .lifetimeShorter : .lifetimeLonger)
            wanted.live(for: days * Scenario.day, client)
        case 2:
            outside.meet(.clientIDChanged)
            wanted.clients[client]?.clientID = sure(ClientID("com.example.\(client).v\(draw(3))"))
        case 3:
            outside.meet(.teamChanged)
            wanted.keys[pickKey()]?.team = sure(TeamID(pick(["DEF123GHIJ", "OPQ789RSTU"])))
        case 4:
            outside.meet(.keyIDChanged)
            wanted.keys[pickKey()]?.keyID = sure(KeyID(pick(["ABC123DEFG", "HIJ456KLMN", "VWX012YZAB"])))
        case 5:
            outside.meet(.keyOfClientChanged)
            wanted.clients[client]?.key = pickKey()
        case 6:
            if let (name, entry) = removed.min(by: { $0.key < $1.key }) {
                outside.meet(.clientAdded)
                removed[name] = nil
                wanted.clients[name] = entry
            } else {
                outside.meet(.clientRemoved)
                removed[client] = wanted.clients.removeValue(forKey: client)
            }
        case 7:
            outside.meet(.outputMoved)
            wanted.clients[client]?.outputs[0] = Scenario.raw("\(client)-\(draw(3))")
        default:
            outside.meet(.actionAdded)
            let deployments = wanted.clients[client]?.onChange.filter(\.isRedeployment) ?? []
            wanted.clients[client]?.onChange =
                [.exec(arguments: ["/bin/\(client)", "\(draw(3))"], timeout: 30)] + deployments
        }
        simulator.reload(wanted)
    }

    /// An administrator writes a configuration that is refused, and reloads it or forgets to.
    func breakText() {
        outside.broken.isTextBad = true
        if chance(2) { simulator.ask(.reload) } else { simulator.noteChange(.configuration) }
    }

    /// With secrets that live for an hour, an afternoon brings what otherwise takes years.
    mutating func liveFast() throws {
        let slow = outside.configuration
        var fast = slow
        for name in fast.clients.keys { fast.live(for: 3600, name) }
        simulator.reload(fast)
        try simulator.run(for: draw(7200))
        if let action = pickAction(), chance(2) { outside.broken.actions[action] = pick(Broken.Failing.allCases) }
        if chance(2) { outside.broken.writes[pickFile()] = .ioError }
        if chance(2) { startAppleFailing() }
        if hasTargets, chance(2) { startFailing(of: pickTarget()) }
        try simulator.run(for: 4000)
        simulator.fix()
        try simulator.run(for: 2 * 3600)
        simulator.reload(slow)
    }

    // MARK: Other programs

    func changeOutput() throws {
        let path = pickFile()
        switch draw(8) {
        case 0, 1:
            outside.meet(.linesEdited)
            outside.editAsStranger(Scenario.environment)
            simulator.noteChange(.file(Scenario.environment))
        case 2: try putOldBack()
        case 3:
            outside.meet(.contentTorn)
            outside.overwrite(path, with: .foreign)
            simulator.noteChange(.file(path))
        case 4:
            outside.meet(.fileDeleted)
            let path = chance(2) ? path : Scenario.environment
            outside.delete(path)
            simulator.noteChange(.file(path))
        case 5:
            outside.meet(.modeChanged)
            outside.files[path]?.isAsConfigured = false
            simulator.noteChange(.file(path))
        case 6: plant(in: path)
        default:
            simulator.ask(.renew(.init(dueWithin: Seconds(21 * Scenario.day), deliverOnly: chance(2))))
        }
    }

    /// Another program saves the environment file as it was before a renewal.
    private func putOldBack() throws {
        let old = outside.files[Scenario.environment]
        askToRenew()
        try simulator.run(for: draw(2))
        outside.meet(.oldContentPutBack)
        outside.editAsStranger(Scenario.environment, old: old)
        simulator.noteChange(.file(Scenario.environment))
    }

    /// Another program replaces one of our secrets by a forged one, or by one made elsewhere with the same key: an
    /// ordinary one, one of the future, or one that lasts practically for ever.
    private func plant(in path: AbsolutePath) {
        guard let name = outside.configuration.files[path]?.slots.values.min(),
            let entry = outside.configuration.clients[name], let key = outside.configuration.keys[entry.key]
        else { return }
        let signer = chance(2) ? outside.prints[entry.key] : nil
        outside.meet(signer == nil ? .secretForged : .secretMadeElsewhere)
        let issuedAt = simulator.now.wall + Seconds(pick([-60, -60, 3600, 3650 * Scenario.day]))
        let claims = Claims(
            issuer: key.team, keyID: key.keyID, subject: entry.clientID, issuedAt: issuedAt,
            expiresAt: issuedAt + Seconds(pick([1, 60, 100, 3650]) * Scenario.day))
        let planted = SecretInfo(
            fingerprint: Fingerprint(leadingBytes: simulator.random.next()), claims: claims, signer: signer)
        // A secret that Apple would accept is as good as one that the daemon made.
        if signer != nil { outside.minted[planted.fingerprint] = planted }
        outside.overwrite(path, with: .secret(planted))
        simulator.noteChange(.file(path))
        // A restarted daemon decides by what it finds.
        if chance(2) { simulator.die(downFor: UInt64(draw(5000))) }
    }

    /// Another program overwrites a file again and again, for up to an hour.
    func contest() throws {
        let path = pickFile()
        outside.meet(.fileContested)
        for _ in 0..<60 {
            outside.overwrite(path, with: .foreign)
            simulator.noteChange(.file(path))
            try simulator.run(for: 5 + draw(60))
        }
    }
}
