import AppleClientSecret
import Rotation
import TestSupport

/// What becomes of the daemon's jobs.
extension Outside {
    /// How long a job takes, in milliseconds; nil: as long as its file hangs.
    func delay(of job: Job, _ random: inout SeededGenerator) -> UInt64? {
        if case .file(let path) = job.resource, broken.hanging.contains(path) {
            meet(.fileHung)
            return nil
        }
        if case .run(let action, _) = job.work, broken.actions[action.id] == .byHanging { return 30_000 }
        return random.next() % 50
    }

    /// Does what a job asks for and says what came of it.
    func carryOut(_ job: Job, _ random: inout SeededGenerator) -> Result<Outcome, Trouble> {
        switch job.work {
        case .readConfiguration:
            guard broken.isTextBad else { return .success(.configuration(configuration)) }
            meet(.reloadRefused)
            return .success(.refused(Self.refusal))
        case .checkConfiguration:
            guard broken.isTextBad else { return .success(.passes) }
            meet(.wouldNotStart)
            return .success(.refused(Self.refusal))
        case .readKey(let name, _): return readKey(name)
        case .recall(let client): return recall(client)
        case .look(let spec):
            if sabotage == .believesMemory, let written = written[spec.path] { return .success(.seen(written)) }
            return .success(.seen(look(spec)))
        case .mint(let client, let key, let claims): return mint(client, key, claims, &random)
        case .keep(let client, let record):
            guard !broken.isStateUnusable else { return stateTrouble(client) }
            if let current = record.current { need(current) }
            unreported[job.id] = .record(client, records[client])
            records[client] = record
            return .success(.kept(record))
        case .publish(let spec, let secrets, let mayCreate): return publish(job.id, spec, secrets, mayCreate)
        case .run(let action, let covering):
            if case .notice(let id) = job.resource { return page(id) }
            return run(action, covering)
        case .recallTold:
            return broken.isStateGone ? stateTrouble() : .success(.recalledTold(told))
        case .keepTold(let told):
            guard !broken.isStateUnusable else { return stateTrouble() }
            self.told = told
            return .success(.keptTold(told))
        case .tidyRecords(let clients, let moment):
            records = records.filter { client, record in
                let secrets = [record.current].compactMap { $0 } + record.delivered.values
                return clients.contains(client) || secrets.contains { $0.expiresAt >= moment }
            }
            return .success(.tidied)
        }
    }

    private static let refusal = ["clientsecretd.yaml:1:1: error: not a configuration"]

    private func readKey(_ name: KeyName) -> Result<Outcome, Trouble> {
        if let code = broken.keys[name] {
            meet(code == .keyMissing ? .keyMissing : .keyUnreadable)
            return .failure(Trouble(code, at: .key(name)))
        }
        guard var print = prints[name] else { return .failure(Trouble(.keyMissing, at: .key(name))) }
        if sabotage == .readsKeysOnce {
            print = firstPrints[name] ?? print
            firstPrints[name] = print
        }
        known.insert(print)
        return .success(.key(print))
    }

    private func recall(_ client: ClientName) -> Result<Outcome, Trouble> {
        guard !broken.isStateGone else {
            // Nobody can know any more whose files these were.
            deleted = []
            return stateTrouble(client)
        }
        let record = records[client] ?? Record()
        if let current = record.current {
            shelf.insert(current.fingerprint)
            if let signer = current.signer { known.insert(signer) }
        }
        return .success(.recalled(record))
    }

    private func stateTrouble(_ client: ClientName? = nil) -> Result<Outcome, Trouble> {
        meet(.stateUnusable)
        return .failure(Trouble(.stateUnusable, at: client.map(Trouble.Place.client) ?? .named("the state directory")))
    }

    private func mint(
        _ client: ClientName, _ key: KeyName, _ claims: Claims, _ random: inout SeededGenerator
    ) -> Result<Outcome, Trouble> {
        if let code = broken.keys[key] { return .failure(Trouble(code, at: .key(key))) }
        guard let print = prints[key] else { return .failure(Trouble(.keyMissing, at: .key(key))) }
        if !known.contains(print) { meet(.keySwappedBeforeSigning) }
        known.insert(print)
        mints += 1
        let issued = Issued(fingerprint: Fingerprint(leadingBytes: random.next()), claims: claims, signer: print)
        minted[issued.fingerprint] = issued
        shelf.insert(issued.fingerprint)
        return .success(.minted(issued))
    }

    private func publish(
        _ job: JobID, _ spec: FileSpec, _ secrets: [Slot: Issued], _ mayCreate: Bool
    ) -> Result<Outcome, Trouble> {
        let path = spec.path
        if let trouble = writeTrouble(path) { return .failure(trouble) }
        guard files[path] != nil || mayCreate || sabotage == .makesDeletedFilesAnew else {
            return .failure(Trouble(.environmentFileDeleted, at: .path(path)))
        }
        var file = files[path] ?? File()
        if sabotage == .dropsForeignLines { file.foreign = 0 }
        for (slot, issued) in sabotage?.twist(secrets) ?? secrets {
            need(issued)
            file.slots[slot] = sabotage == .tearsWrites && file.foreign > 0 ? .foreign : .secret(issued)
            file.damaged.remove(slot)
        }
        file.isAsConfigured = true
        if secrets.count > 1 { meet(.sharedWrite) }
        if spec.kind == .env { meet(.environmentSlotWritten) }
        if sabotage == .believesWrites { return .success(.published(Look(slots: file.slots))) }
        unreported[job] = .file(path, files[path])
        files[path] = file
        written[path] = look(spec)
        guard !broken.lateWrites.contains(path) else {
            meet(.writeFailedLate)
            doubtful.insert(path)
            return .failure(Trouble(.ioError, at: .path(path)))
        }
        doubtful.remove(path)
        return .success(.published(look(spec)))
    }

    private func writeTrouble(_ path: AbsolutePath) -> Trouble? {
        if broken.directories.contains(path.directory) {
            meet(.directoryGone)
            return Trouble(.directoryMissing, at: .path(path))
        }
        if broken.isDiskFull {
            meet(.diskFull)
            return Trouble(.diskFull, at: .path(path))
        }
        guard let code = broken.writes[path] else { return nil }
        meet(.writeFailed)
        return Trouble(code, at: .path(path))
    }

    private func page(_ id: ActionID) -> Result<Outcome, Trouble> {
        pages += 1
        guard broken.actions[id] == nil else {
            meet(.noticeFailed)
            return .failure(Trouble(.actionFailed, at: .action(id), detail: "exit status 1"))
        }
        meet(.peopleTold)
        return .success(.ran)
    }

    private func run(_ action: Action, _ covering: [ClientName: Covered]) -> Result<Outcome, Trouble> {
        let failing = broken.actions[action.id]
        let isUnit = if case .exec = action { false } else { true }
        let failed = Trouble(isUnit ? .jobFailed : .actionFailed, at: .action(action.id), detail: "exit status 1")
        switch failing {
        case .byHanging:
            meet(.actionHung)
            return .failure(Trouble(isUnit ? .jobTimedOut : .actionTimedOut, at: .action(action.id)))
        case .atOnce:
            meet(.actionFailed)
            return .failure(failed)
        case .late, nil: break
        }
        runs += 1
        if covering.count > 1 { meet(.sharedRun) }
        if sabotage != .skipsActions {
            for client in covering.keys { reread(Reader(client: client, action: action.id)) }
        }
        guard failing == nil else {
            meet(.actionFailedLate)
            return .failure(failed)
        }
        return .success(.ran)
    }

    // MARK: Reading

    private func look(_ spec: FileSpec) -> Look {
        guard let file = files[spec.path] else { return Look(slots: [:], exists: false) }
        for issued in file.slots.values.compactMap(\.secret) { shelf.insert(issued.fingerprint) }
        return Look(
            slots: file.slots.filter { spec.slots[$0.key] != nil }.mapValues(judged),
            otherLines: file.foreign > 0, isAsConfigured: file.isAsConfigured)
    }

    /// What the living daemon makes of what it reads: by whom a secret was signed can be told by keys that it knows.
    private func judged(_ sighting: Sighting) -> Sighting {
        guard case .secret(let issued) = sighting else { return sighting }
        var signer = signer(of: issued)
        if sabotage == .believesForgedSecrets { signer = signer ?? known.first }
        let claims = Claims(
            issuer: issued.team, keyID: issued.keyID, subject: issued.client, issuedAt: issued.issuedAt,
            expiresAt: issued.expiresAt)
        return .secret(Issued(fingerprint: issued.fingerprint, claims: claims, signer: signer))
    }

    /// The key that signed a secret, if the living daemon knows it.
    func signer(of issued: Issued) -> KeyPrint? {
        issued.signer.flatMap { known.contains($0) ? $0 : nil }
    }

    /// An application reads the last of its client's outputs; what is no secret of its own it does not take.
    func reread(_ reader: Reader) {
        guard let entry = configuration.clients[reader.client], let output = entry.outputs.last,
            let issued = files[output.path]?.slots[output.slot]?.secret, issued.client == entry.clientID
        else { return }
        held[reader] = issued
        unheard.insert(reader)
    }

    /// What an application holds, if the daemon can know.
    func heldKnowingly(_ reader: Reader) -> Issued? {
        unheard.contains(reader) ? nil : held[reader]
    }

    private func need(_ issued: Issued) {
        if !shelf.contains(issued.fingerprint) {
            violation = Violation(.bytes, "the bytes of \(issued.fingerprint) were asked for, which nobody has")
        }
    }
}
