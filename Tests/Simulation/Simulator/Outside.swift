import AppleClientSecret
package import Rotation
import TestSupport

/// Everything around the daemon: the disk, the keys, the state directory and the applications.
package final class Outside {
    package enum Fault: CaseIterable, Hashable {
        case diskFull
        case stateDirectoryGone
        case keyGone
        case actionFails
        case actionHangs
    }

    package struct File: Equatable {
        package var slots: [Slot: Sighting] = [:]
        /// Which version of another program's lines it holds; zero: none.
        package var foreign = 0
    }

    package var configuration: Configuration
    package var files: [AbsolutePath: File] = [:]
    var records: [ClientName: Record] = [:]
    private var told = Told()
    var prints: [KeyName: KeyPrint] = [:]
    var faults: Set<Fault> = []
    /// Files on which jobs do not end.
    package var hanging: Set<AbsolutePath> = []
    /// What another program has last written into each file that it keeps lines in.
    private var foreign: [AbsolutePath: Int] = [:]
    /// Files of another program's that somebody has taken away.
    private var away: Set<AbsolutePath> = []
    /// Those of them that the state directory knows to be another program's.
    private(set) var deleted: Set<AbsolutePath> = []
    private var firstPrints: [KeyName: KeyPrint] = [:]
    /// What each application holds in its memory.
    var held: [ClientName: Issued] = [:]
    /// Secrets whose bytes the living daemon knows.
    var shelf: Set<Fingerprint> = []
    private var written: [AbsolutePath: Look] = [:]
    package private(set) var mints = 0
    package private(set) var runs = 0
    private var violation: Violation?

    init(_ configuration: Configuration) {
        self.configuration = configuration
        for name in configuration.keys.keys { swapKey(name, number: 1) }
    }

    var isHealthy: Bool { faults.isEmpty && hanging.isEmpty && away.isEmpty }

    // MARK: Another program

    /// Saves a file that it keeps lines in, with new ones of its own; ours as they are, or as `old` says.
    package func editAsStranger(_ path: AbsolutePath, old: File? = nil) {
        guard !away.contains(path) else { return }
        let version = (foreign[path] ?? 0) + 1
        foreign[path] = version
        files[path] = File(slots: (old ?? files[path] ?? File()).slots, foreign: version)
    }

    /// Takes a file away.
    package func delete(_ path: AbsolutePath) {
        guard let file = files.removeValue(forKey: path), file.foreign > 0 else { return }
        foreign[path] = nil
        away.insert(path)
        let clients = configuration.clients.filter { $0.value.outputs.contains { $0.path == path } }.keys
        if clients.contains(where: { records[$0]?.shared.contains(path) == true }) { deleted.insert(path) }
    }

    /// Ends every fault and puts back what was taken away.
    func mend() {
        faults = []
        hanging = []
        for path in away { restore(path) }
    }

    /// Loses the state directory's content.
    func loseRecords() {
        records = [:]
        told = Told()
        // Nobody can know any more whose files these were.
        for path in deleted { restore(path) }
    }

    private func restore(_ path: AbsolutePath) {
        deleted.remove(path)
        away.remove(path)
        editAsStranger(path)
    }

    func swapKey(_ name: KeyName, number: Int) {
        let digits = String(number, radix: 16)
        prints[name] = KeyPrint(String(repeating: "0", count: 64 - digits.count) + digits)
    }

    /// How long a job takes, in milliseconds; nil: as long as its file hangs.
    func delay(of job: Job, _ random: inout SeededGenerator) -> UInt64? {
        if case .file(let path) = job.resource, hanging.contains(path) { return nil }
        if case .run = job.work, faults.contains(.actionHangs) { return 30_000 }
        return random.next() % 50
    }

    /// Does what a job asks for and says what came of it.
    func carryOut(_ job: Job, _ sabotage: Sabotage?, _ random: inout SeededGenerator) -> Result<Outcome, Trouble> {
        switch job.work {
        case .readConfiguration:
            return .success(.configuration(configuration))
        case .checkConfiguration:
            return .success(.passes)
        case .readKey(let name, _):
            guard let print = prints[name], !faults.contains(.keyGone) else {
                return .failure(Trouble(.keyMissing, at: .key(name)))
            }
            if case .readsKeysOnce? = sabotage {
                firstPrints[name] = firstPrints[name] ?? print
                return .success(.key(firstPrints[name] ?? print))
            }
            return .success(.key(print))
        case .recall(let client):
            if faults.contains(.stateDirectoryGone) {
                for path in deleted { restore(path) }
                return .failure(Trouble(.stateUnusable, at: .client(client)))
            }
            let record = records[client] ?? Record()
            if let current = record.current { shelf.insert(current.fingerprint) }
            return .success(.recalled(record))
        case .look(let spec):
            if case .believesMemory? = sabotage, let written = written[spec.path] { return .success(.seen(written)) }
            return .success(.seen(look(spec)))
        case .mint(_, let key, let claims):
            mints += 1
            let issued = Issued(
                fingerprint: Fingerprint(leadingBytes: random.next()), claims: claims, signer: prints[key])
            shelf.insert(issued.fingerprint)
            return .success(.minted(issued))
        case .keep(let client, let record):
            if faults.contains(.stateDirectoryGone) { return .failure(Trouble(.stateUnusable, at: .client(client))) }
            if let current = record.current { need(current) }
            records[client] = record
            return .success(.kept(record))
        case .publish(let spec, let secrets, let mayCreate):
            if faults.contains(.diskFull) { return .failure(Trouble(.diskFull, at: .path(spec.path))) }
            let isDaring = if case .makesDeletedFilesAnew? = sabotage { true } else { false }
            guard files[spec.path] != nil || mayCreate || isDaring else {
                return .failure(Trouble(.environmentFileDeleted, at: .path(spec.path)))
            }
            var file = files[spec.path] ?? File()
            if case .dropsForeignLines? = sabotage { file.foreign = 0 }
            for (slot, issued) in sabotage?.twist(secrets) ?? secrets {
                need(issued)
                file.slots[slot] = .secret(issued)
            }
            if case .believesWrites? = sabotage { return .success(.published(Look(slots: file.slots))) }
            files[spec.path] = file
            written[spec.path] = look(spec)
            return .success(.published(look(spec)))
        case .run(let action, let covering):
            runs += 1
            if faults.contains(.actionHangs) { return .failure(Trouble(.actionTimedOut, at: .action(action.id))) }
            if faults.contains(.actionFails) {
                return .failure(Trouble(.actionFailed, at: .action(action.id), detail: "exit status 1"))
            }
            if case .skipsActions? = sabotage { return .success(.ran) }
            for client in covering.keys { reread(client) }
            return .success(.ran)
        case .tidyRecords:
            return .success(.tidied)
        case .recallTold, .keepTold:
            if faults.contains(.stateDirectoryGone) {
                return .failure(Trouble(.stateUnusable, at: .named("the state directory")))
            }
            guard case .keepTold(let told) = job.work else { return .success(.recalledTold(self.told)) }
            self.told = told
            return .success(.keptTold(told))
        }
    }

    private func look(_ spec: FileSpec) -> Look {
        guard let file = files[spec.path] else { return Look(slots: [:], exists: false) }
        for sighting in file.slots.values {
            if case .secret(let issued) = sighting { shelf.insert(issued.fingerprint) }
        }
        return Look(slots: file.slots.filter { spec.slots[$0.key] != nil }, otherLines: file.foreign > 0)
    }

    /// An application reads the first of its files.
    private func reread(_ client: ClientName) {
        for output in configuration.clients[client]?.outputs ?? [] {
            guard let file = files[output.path] else { continue }
            for sighting in file.slots.values {
                if case .secret(let issued) = sighting, issued.client == configuration.clients[client]?.clientID {
                    held[client] = issued
                }
            }
        }
    }

    private func need(_ issued: Issued) {
        if !shelf.contains(issued.fingerprint) {
            violation = Violation("the bytes of \(issued.fingerprint) were asked for, which nobody has")
        }
    }

    func check() throws {
        if let violation { throw violation }
        for (path, version) in foreign where files[path]?.foreign != version {
            throw Violation("\(path) has lost what another program wrote into it")
        }
        for path in deleted where files[path] != nil {
            throw Violation("\(path) was made anew with half of its lines")
        }
        for (path, spec) in configuration.files {
            for (slot, client) in spec.slots {
                guard case .secret(let issued)? = files[path]?.slots[slot] else { continue }
                guard issued.client == configuration.clients[client]?.clientID else {
                    throw Violation("\(path) holds another client's secret")
                }
            }
        }
    }

    /// What holds once nothing has been broken for long enough: every place and every application has a living secret.
    func checkCalm(at now: Now) throws {
        for (path, spec) in configuration.files {
            for (slot, client) in spec.slots {
                guard case .secret(let issued)? = files[path]?.slots[slot], issued.expiresAt > now.wall else {
                    throw Violation("\(path) holds no living secret of \(client)")
                }
            }
        }
        for client in configuration.clients.keys {
            guard let secret = held[client] else { throw Violation("\(client)'s application was never told") }
            guard secret.expiresAt > now.wall else {
                throw Violation("\(client)'s application holds a secret that expired at \(secret.expiresAt)")
            }
        }
    }
}
