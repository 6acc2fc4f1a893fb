import AppleClientSecret
import Rotation

/// How files are written and read, and what lies in them.
extension Outside {
    func publish(
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

    func look(_ spec: FileSpec) -> Look {
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
        if sabotage == .believesForgedSecrets, signer == nil {
            signer = configuration.keys.first { $0.value.keyID == issued.keyID }.flatMap { prints[$0.key] }
        }
        let claims = Claims(
            issuer: issued.team, keyID: issued.keyID, subject: issued.client, issuedAt: issued.issuedAt,
            expiresAt: issued.expiresAt)
        return .secret(Issued(fingerprint: issued.fingerprint, claims: claims, signer: signer))
    }

    /// The key that signed a secret, if the living daemon knows it.
    func signer(of issued: Issued) -> KeyPrint? {
        issued.signer.flatMap { known.contains($0) ? $0 : nil }
    }

    func secret(in output: Output) -> Issued? {
        files[output.path]?.slots[output.slot]?.secret
    }

    /// Whether a file's mode is as configured, and it can be read and written.
    func isInOrder(_ path: AbsolutePath) -> Bool {
        broken.serves(path) && files[path]?.isAsConfigured == true
    }

    func holds(_ secrets: [Slot: Issued], in path: AbsolutePath) -> Bool {
        guard let file = files[path], file.isAsConfigured else { return false }
        return secrets.allSatisfy { file.slots[$0]?.secret?.fingerprint == $1.fingerprint }
    }

    /// Whether a file was away and is back, or its directory is.
    func returned(_ resource: Resource) -> Bool {
        if case .file(let path) = resource { files[path] == nil || files[path]?.foreign ?? 0 > 0 } else { true }
    }
}
