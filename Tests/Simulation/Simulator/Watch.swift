import AppleClientSecret
import Model
import Rotation

/// Records everything that happens, to decide which promises apply at a moment. Moments are in milliseconds of the boot
/// clock.
///
/// Never copied, because checks ask it all the time.
struct Watch: ~Copyable {
    /// An action's run for a client's secret.
    struct Delivery: Hashable {
        let reader: Outside.Reader
        let secret: Fingerprint
    }

    /// When something last happened to each client that it did not cause itself.
    var disturbedAt: [ClientName: Int64] = [:]
    /// Since when everything works that each client needs, apart from Apple.
    var goodSince: [ClientName: Int64] = [:]
    /// Since when Apple accepts a client's secrets as well, where it is asked.
    var acceptedSince: [ClientName: Int64] = [:]
    /// Since when everything works that each client needs, apart from its actions and Apple.
    var publishesSince: [ClientName: Int64] = [:]
    /// When a push of each client's last succeeded: its actions wait for one that is under way.
    var pushedAt: [ClientName: Int64] = [:]
    /// Since when the state directory works and its content was not lost.
    var keepsSince: Int64?
    var mintedAt: [ClientName: Int64] = [:]
    /// The last secret that the living daemon has minted for each client.
    var minted: [ClientName: SecretInfo] = [:]
    var noticedAt: [AbsolutePath: [Int64]] = [:]

    var jobs: [JobID: Job] = [:]
    /// Jobs that were started for an earlier configuration: their failure causes no pause.
    var former: Set<JobID> = []
    var failures: [Resource: (count: Int, at: Int64)] = [:]
    /// Failures in a row, whatever happened in between: a request causes a retry, but resets no count.
    var failuresInARow: [Resource: Int] = [:]
    /// Whether each file existed when it was last read back.
    var exists: [AbsolutePath: Bool] = [:]
    /// What the last write of each file was to put there.
    var attempted: [AbsolutePath: [FileSlot: SecretInfo]] = [:]
    /// Clients for which a renewal was requested, until a secret is minted.
    var forced: Set<ClientName> = []
    /// Writes that repair drift, and when each file was last repaired.
    var repairing: Set<JobID> = []
    var repairs: [AbsolutePath: [Int64]] = [:]
    /// What was last written into each file successfully.
    var lastWritten: [AbsolutePath: [FileSlot: Fingerprint]] = [:]
    /// Files with a failed write since they were last read back.
    var uncertain: Set<AbsolutePath> = []
    var told: Set<Delivery> = []
    /// Runs that began before a write of what they deliver: applications may have read the previous content.
    var overtaken: Set<JobID> = []
    /// The secret for which each action last succeeded, as far as the living daemon can know.
    var known: [Outside.Reader: SecretInfo] = [:]
    /// Clients without a record when the daemon first recalled it: what their outputs held may count as what their
    /// applications hold until actions have run.
    var blank: Set<ClientName> = []
    /// Files that a request wants written, contested or not.
    var asked: Set<AbsolutePath> = []
    /// The clients whose file was repaired while it was contested, without actions since.
    var repairedInContest: [ClientName: AbsolutePath] = [:]
    /// Likewise those whose place behind an API was.
    var pushedInContest: [ClientName: TargetName] = [:]
    var targets = TargetWatch()
    var isRefused = false
    var open: [RequestID: Int64] = [:]

    /// Whether there are targets.
    let pushes: Bool

    init(_ configuration: Configuration) {
        pushes = configuration.clients.values.contains { !$0.targets.isEmpty }
        disturb(nil, configuration, at: 0)
    }

    // MARK: What happens

    mutating func disturb(_ resource: Resource?, _ configuration: Configuration, at boot: Int64) {
        for (name, entry) in configuration.clients {
            switch resource {
            case .file(let path) where !entry.outputs.contains { $0.path == path }: continue
            case .key(let key) where entry.key != key: continue
            case .target(let target) where !entry.targets.contains { $0.target == target }: continue
            default: disturbedAt[name] = boot
            }
            // After a change of a file, nobody need be notified before it is repaired.
            if case .file? = resource { continue }
            if case .target? = resource { continue }
            told = told.filter { $0.reader.client != name }
        }
        guard let resource else {
            failures = [:]
            return
        }
        if case .target(let target) = resource { return targets.change(target, at: boot) }
        failures[resource] = nil
        guard case .file(let path) = resource else { return }
        noticedAt[path] = (noticedAt[path] ?? []).filter { $0 > boot - 2 * 3_600_000 } + [boot]
    }

    /// Forgets what died with the daemon.
    mutating func forget() {
        jobs = [:]
        former = []
        known = [:]
        blank = []
        asked = []
        overtaken = []
        exists = [:]
        attempted = [:]
        forced = []
        repairing = []
        repairs = [:]
        lastWritten = [:]
        uncertain = []
        open = [:]
        failures = [:]
        failuresInARow = [:]
        isRefused = false
        minted = [:]
        pushedAt = [:]
        targets.forget()
    }

    mutating func sleep(for milliseconds: Int64) {
        open = open.mapValues { $0 + milliseconds }
    }

    /// The secret for which each of a client's actions last succeeded, as far as the living daemon can know; before an
    /// action has run, the oldest secret of the client's former actions.
    func told(_ name: ClientName, _ entry: ClientConfiguration) -> [SecretInfo?] {
        let actions = entry.onChange.map(\.id)
        let others = known.filter { $0.key.client == name && !actions.contains($0.key.action) }
        let oldest = others.values.min { $0.expiresAt < $1.expiresAt }
        return actions.map { known[.init(client: name, action: $0)] ?? oldest }
    }

    /// All secrets for which a client's actions, or its former ones, last succeeded, as far as the living daemon can know.
    func everDelivered(to name: ClientName) -> [SecretInfo] {
        Array(known.filter { $0.key.client == name }.values)
    }

    /// Updates since when everything works that each client needs.
    mutating func see(_ outside: Outside, isAlive: Bool, isClockPossible: Bool, at boot: Int64) {
        for (name, entry) in outside.clients {
            let isPublishing =
                isAlive && isClockPossible && outside.broken.publishes(entry)
                && !entry.outputs.contains { outside.away.contains($0.path) }
            publishesSince[name] = isPublishing ? publishesSince[name] ?? boot : nil
            let isGood =
                isPublishing && outside.broken.tells(entry)
                && outside.api.serves(entry, at: boot)
            goodSince[name] = isGood ? goodSince[name] ?? boot : nil
            let isAccepted = !entry.verify || outside.apple.accepts(name, signer: outside.prints[entry.key])
            acceptedSince[name] = isGood && isAccepted ? acceptedSince[name] ?? boot : nil
        }
        keepsSince = outside.broken.isStateUnusable ? nil : keepsSince ?? boot
    }

    // MARK: What may be expected

    /// For how long nothing has happened to a client.
    func quiet(_ client: ClientName, at boot: Int64) -> Int64 {
        boot - (disturbedAt[client] ?? boot)
    }

    /// Whether everything that a client needs has worked undisturbed for longer than the slowest retry takes.
    ///
    /// - Parameter despiteApple: whether that Apple accepts the client's secrets does not count as needed.
    func isOwed(
        _ client: ClientName, _ entry: ClientConfiguration, despiteApple: Bool = false, isSynced: Bool, at boot: Int64
    ) -> Bool {
        guard let since = despiteApple ? goodSince[client] : acceptedSince[client] else { return false }
        return min(boot - since, quiet(client, at: boot)) > bound(entry, isSynced: isSynced, at: boot)
    }

    /// Whether no secret was minted lately for a client that may not be published yet.
    func isDone(_ client: ClientName, at boot: Int64) -> Bool {
        // A deployment takes minutes, and is looked at every quarter of one.
        boot - (mintedAt[client] ?? .min / 2) > 90_000 + (pushes ? Api.longestDeployment + 60_000 : 0)
    }

    func keepsLong(at boot: Int64) -> Bool {
        boot - (keepsSince ?? boot) > 120_000
    }

    /// How many milliseconds a fix may stay unnoticed: the slowest pause of all, and some time to act in.
    func bound(_ entry: ClientConfiguration, isSynced: Bool, at boot: Int64) -> Int64 {
        var seconds: Int64 = 60 + 60 + 30 + 30
        let pauses = entry.onChange.map { action -> Int64 in
            switch action {
            case .exec, .redeploy: 900
            case .unit, .signal: 3600
            }
        }
        seconds += (pauses.max() ?? 0) + 60
        // Apple is asked again a quarter of an hour later at most.
        if entry.verify { seconds += 900 + 60 + 60 }
        if !isSynced { seconds += 620 }
        if wasContested(entry, at: boot) { seconds += 660 }
        if !entry.targets.isEmpty { seconds += 900 + 60 + 60 }
        if entry.targets.contains(where: { Api.shows($0.target) }) { seconds += 3600 + 360 + 60 }
        if targets.wasContested(entry, at: boot) { seconds += 3600 }
        if entry.onChange.contains(where: \.isRedeployment) {
            seconds += (Api.failurePause + 2 * Api.longestDeployment) / 1000 + 60
        }
        return seconds * 1000
    }

    /// Whether another program may have been noticed lately to write a client's files.
    func wasContested(_ entry: ClientConfiguration, at boot: Int64) -> Bool {
        entry.outputs.contains { output in
            (noticedAt[output.path] ?? []).filter { $0 > boot - 2 * 3_600_000 }.count > 2
        }
    }

    func isHung(_ path: AbsolutePath, since moment: Int64) -> Bool {
        jobs.values.contains { $0.resource == .file(path) && $0.startedAt.milliseconds <= moment }
    }

    func isMinting(_ client: ClientName) -> Bool {
        jobs.values.contains { $0.resource == .client(client) }
    }

    /// Whether nothing has happened to any client for so long that all of it was noticed.
    func isAtRest(at boot: Int64) -> Bool { disturbedAt.values.allSatisfy { boot - $0 > Self.longEnough } }

    /// Whether no secret was minted for as long.
    func mintsNothing(at boot: Int64) -> Bool { mintedAt.values.allSatisfy { boot - $0 > Self.longEnough } }

    /// Half a day, in milliseconds.
    private static let longEnough: Int64 = 12 * 3_600_000

    /// Whether a job is repeated at once where it fails, which is the planted mistake.
    func isRepeated(_ id: JobID, _ sabotage: Sabotage) -> Bool {
        switch jobs[id]?.work {
        case .run: sabotage == .retriesAtOnce
        case .verify: sabotage == .asksTooOften
        case .push: sabotage == .pushesAtOnce
        default: false
        }
    }

    // MARK: Answers

    /// The milliseconds within which a request is answered; longer where it may wait for deployments.
    private var timeout: Int64 { pushes ? 900_000 : 300_000 }

    mutating func answered(_ answers: [(RequestID, Answer)], at boot: Int64) throws {
        for (requestID, _) in answers where open.removeValue(forKey: requestID) == nil {
            throw Violation(.answers, "\(requestID) was answered twice")
        }
        // Each step of publishing a secret may hang for half a minute, one after another.
        for (requestID, moment) in open where boot - moment > timeout {
            throw Violation(.answers, "\(requestID) was not answered for \(timeout / 1000) s")
        }
    }
}
