import AppleClientSecret
import Failures
import Model
import Rotation

/// An observer of what is asked of Apple, and of which secrets are put in force before it has accepted them.
struct VerdictWatch: ~Copyable {
    /// The newest secret of each client, as far as the living daemon can know.
    private(set) var newest: [ClientName: SecretInfo] = [:]
    /// The secret of each client that was the newest one before.
    private(set) var predecessors: [ClientName: SecretInfo] = [:]
    /// How often the living daemon was told that each secret is refused, since it was told that it is accepted.
    private var refusals: [Fingerprint: Int] = [:]
    /// Clients whose newest secret was minted while a refused one was in force, and was not accepted yet.
    private(set) var replacesRefused: Set<ClientName> = []
    /// Secrets that the daemon has minted.
    private var minted: Set<Fingerprint> = []
    private var inForce: [ClientName: SecretInfo] = [:]
    private var running: JobID?
    /// When requests began within the last minute.
    private var begun: [Int64] = []
    private var failedAt: [ClientName: Int64] = [:]

    /// Forgets what died with the daemon.
    mutating func forget() {
        let minted = minted
        self = VerdictWatch()
        self.minted = minted
    }

    /// Whether the daemon knows a secret to be refused: one refusal may be a stray.
    func isRefused(_ secret: SecretInfo) -> Bool { refusals[secret.fingerprint] ?? 0 > 1 }

    /// Whether a client has a secret newer than the one in force.
    func isHeldBack(_ client: ClientName) -> Bool { newest[client].map { $0 != inForce[client] } ?? false }

    /// Records a request: one at a time, six a minute, and about one client half a minute after a failure at the
    /// soonest, up to a fifth of which is jitter.
    ///
    /// - Parameter quiet: for how long nothing has happened to the client that makes the request come sooner.
    mutating func start(_ job: Job, _ client: ClientName, quiet: Int64, at boot: Int64) throws {
        begun = begun.filter { $0 > boot - 60_000 } + [boot]
        guard running == nil else { throw Violation(.pace, "Apple is asked two questions at once") }
        guard begun.count <= 6 else { throw Violation(.pace, "Apple is asked \(begun.count) questions in a minute") }
        running = job.id
        guard let failedAt = failedAt[client], quiet > boot - failedAt else { return }
        if boot - failedAt < 24_000 {
            throw Violation(.pace, "Apple is asked about \(client) again after \(boot - failedAt) ms")
        }
    }

    /// Records what the daemon is told of an ended job.
    mutating func finish(_ job: Job, _ result: Result<Outcome, Failure>, isFormer: Bool, at boot: Int64) {
        if running == job.id { running = nil }
        switch (job.work, result) {
        case (.mint(let client, _, _), .success(.minted(let secret))):
            minted.insert(secret.fingerprint)
            if let old = inForce[client], old == newest[client], isRefused(old) { replacesRefused.insert(client) }
            predecessors[client] = newest[client]
            newest[client] = secret
            failedAt[client] = nil
        case (.recall(let client, _), .success(.recalled(let record))):
            guard let candidate = record.candidate, newest[client] == nil else { return }
            newest[client] = candidate
            if record.refusal != nil { refusals[candidate.fingerprint] = 2 }
        case (.verify(let client, let secret), .success):
            failedAt[client] = nil
            refusals[secret.fingerprint] = nil
            if newest[client] == secret { replacesRefused.remove(client) }
        case (.verify(let client, let secret), .failure(let failure)) where !isFormer:
            // What becomes of a secret that was replaced meanwhile says nothing of the new one.
            if newest[client].map({ $0 == secret }) ?? true { failedAt[client] = boot }
            if failure.code == .refusedByApple { refusals[secret.fingerprint, default: 0] += 1 }
        default: break
        }
    }

    /// While a client has an unexpired secret to keep, a new one is put in force only once Apple has accepted it, or
    /// when the old one is about to become critical and Apple has not refused the new one.
    mutating func see(_ simulator: Simulator) throws {
        let rotation = simulator.rotation
        let clients = rotation.configuration.clients
        let before = inForce
        inForce = clients.reduce(into: [:]) { $0[$1.key] = rotation.current(of: $1.key) }
        for name in inForce.keys.filter({ inForce[$0] != before[$0] }).sorted() {
            guard let entry = clients[name], entry.verify, let old = before[name], let new = inForce[name],
                minted.contains(new.fingerprint),
                !simulator.outside.apple.accepted.contains(new.fingerprint), !isRefused(old),
                simulator.mayBeKept(old, entry)
            else { continue }
            if isRefused(new) {
                throw Violation(.verdicts, "\(name) has a refused secret instead of one that may be accepted")
            }
            let remainder = entry.renewBefore.count / 3
            let latest = entry.criticalFrom(old) - Seconds(min(60, remainder / 10))
            if simulator.now.wall < latest {
                throw Violation(.verdicts, "\(name) has a secret that Apple has not accepted before \(latest)")
            }
            simulator.outside.meet(.publishedUntried)
        }
    }
}

extension Simulator {
    /// Whether a secret may be one that Apple accepts, although its key or key id is no longer configured.
    fileprivate func mayBeKept(_ issued: SecretInfo, _ entry: ClientConfiguration) -> Bool {
        issued.client == entry.clientID && issued.signer != nil && issued.issuedAt <= now.wall + 60
            && now.wall < issued.expiresAt && !issued.livesTooLong(at: now.wall)
    }

    /// No client is late because Apple is not reached: its outputs hold a secret that is not critical; one that has not
    /// expired, where Apple refuses the new one.
    func checkVerdicts() throws {
        guard isAlive else { return }
        for (name, entry) in outside.clients where entry.verify {
            guard watch.isOwed(name, entry, despiteApple: true, isSynced: isSynced, at: boot) else { continue }
            // One that was minted just now is not in force before the refused one would have been.
            let newest = [verdicts.newest[name], verdicts.predecessors[name]].compactMap { $0 }
            let mayBeRefused = newest.contains { outside.apple.mayBeRefused($0, at: boot) }
            for output in entry.outputs {
                guard let issued = outside.secret(in: output), issued.client == entry.clientID else {
                    throw Violation(.verdicts, "\(output.path) holds no secret of \(name)")
                }
                let end = mayBeRefused ? issued.expiresAt + 10 : entry.criticalFrom(issued)
                guard end <= now.wall else { continue }
                throw Violation(.verdicts, "\(output.path) waits for Apple with a secret until \(issued.expiresAt)")
            }
        }
    }
}
