import AppleClientSecret
import Failures
import Model
import Rotation

/// How files are written and read, and what they hold.
extension Outside {
    func publish(
        _ job: JobID, _ spec: FileSpec, _ secrets: [FileSlot: SecretInfo], _ mayCreate: Bool
    ) -> Result<Outcome, Failure> {
        let path = spec.path
        if let failure = writeFailure(path) { return .failure(failure) }
        guard files[path] != nil || mayCreate || !spec.format.isShared || sabotage == .makesDeletedFilesAnew else {
            return .failure(Failure(.outputDeleted, at: .path(path)))
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
        if spec.format.isShared { meet(.environmentSlotWritten) }
        if sabotage == .believesWrites { return .success(.published(FileObservation(slots: file.slots))) }
        unreported[job] = .file(path, files[path])
        files[path] = file
        written[path] = observe(spec)
        guard !broken.lateWrites.contains(path) else {
            meet(.writeFailedLate)
            return .failure(Failure(.ioError, at: .path(path)))
        }
        return .success(.published(observe(spec)))
    }

    private func writeFailure(_ path: AbsolutePath) -> Failure? {
        if broken.directories.contains(path.directory) {
            meet(.directoryGone)
            return Failure(.directoryMissing, at: .path(path))
        }
        if broken.isDiskFull {
            meet(.diskFull)
            return Failure(.diskFull, at: .path(path))
        }
        guard let code = broken.writes[path] else { return nil }
        meet(.writeFailed)
        return Failure(code, at: .path(path))
    }

    func observe(_ spec: FileSpec) -> FileObservation {
        guard let file = files[spec.path] else { return FileObservation(slots: [:], exists: false) }
        for issued in file.slots.values.compactMap(\.secret) { secretCache.insert(issued.fingerprint) }
        return FileObservation(
            slots: file.slots.filter { spec.slots[$0.key] != nil }.mapValues(judged),
            otherLines: file.foreign > 0, isAsConfigured: file.isAsConfigured)
    }

    /// What the living daemon reads: it recognises the signer of a secret only by keys that it knows.
    func judged(_ observation: SlotObservation) -> SlotObservation {
        guard case .secret(let issued) = observation else { return observation }
        var signer = signer(of: issued)
        if sabotage == .believesForgedSecrets, signer == nil {
            signer = configuration.keys.first { $0.value.keyID == issued.keyID }.flatMap { prints[$0.key] }
        }
        return .secret(SecretInfo(fingerprint: issued.fingerprint, claims: issued.claims, signer: signer))
    }

    /// The key that signed a secret, if the living daemon knows it.
    func signer(of issued: SecretInfo) -> KeyDigest? {
        issued.signer.flatMap { known.contains($0) ? $0 : nil }
    }

    func secret(in output: Output) -> SecretInfo? {
        files[output.path]?.slots[output.slot]?.secret
    }

    /// Whether a file's mode is as configured, and it can be read and written.
    func isInOrder(_ path: AbsolutePath) -> Bool {
        broken.serves(path) && files[path]?.isAsConfigured == true
    }

    func holds(_ secrets: [FileSlot: SecretInfo], in path: AbsolutePath) -> Bool {
        guard let file = files[path], file.isAsConfigured else { return false }
        return secrets.allSatisfy { file.slots[$0]?.secret?.fingerprint == $1.fingerprint }
    }

    /// Whether a fix brought a resource back: a restored file, or the directory of a missing one.
    func returned(_ resource: Resource) -> Bool {
        if case .file(let path) = resource { files[path] == nil || files[path]?.foreign ?? 0 > 0 } else { true }
    }
}
