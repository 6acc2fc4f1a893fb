import AppleClientSecret
import Rotation

/// What somebody remembers who sees everything that happens: by that it is judged what may be promised at a moment.
/// Moments are in milliseconds of the boot clock.
struct Watch {
    /// An action's run for a client's secret.
    struct ReportedStates: Hashable {
        let reader: Outside.Reader
        let secret: Fingerprint
    }

    /// When something last happened to each client that was not its own doing.
    var disturbedAt: [ClientName: Int64] = [:]
    /// Since when everything works that each client needs.
    var goodSince: [ClientName: Int64] = [:]
    /// Since when everything works that each client needs but its actions.
    var publishesSince: [ClientName: Int64] = [:]
    /// Since when the state directory works.
    var keepsSince: Int64?
    var mintedAt: [ClientName: Int64] = [:]
    /// The last secret that the living daemon has made for each client.
    var minted: [ClientName: SecretInfo] = [:]
    var noticedAt: [AbsolutePath: [Int64]] = [:]

    var jobs: [JobID: Job] = [:]
    /// Jobs that were started for an earlier configuration: that they fail is no reason to wait.
    var former: Set<JobID> = []
    var failures: [Resource: (count: Int, at: Int64)] = [:]
    /// How often each has failed in a row, whatever happened in between: who asks has it tried, and not begin anew.
    var failuresInARow: [Resource: Int] = [:]
    /// Whether each file was there when it was last seen.
    var exists: [AbsolutePath: Bool] = [:]
    /// What was last to be written into each file.
    var attempted: [AbsolutePath: [Slot: SecretInfo]] = [:]
    /// Clients of whom somebody wants a new secret, and will until there is one.
    var forced: Set<ClientName> = []
    /// Writes that repair damage, and when each file was last repaired.
    var repairing: Set<JobID> = []
    var repairs: [AbsolutePath: [Int64]] = [:]
    /// What was last written into each file with success.
    var lastWritten: [AbsolutePath: [Slot: Fingerprint]] = [:]
    /// Files of which a write has failed since they were last seen.
    var uncertain: Set<AbsolutePath> = []
    var told: Set<ReportedStates> = []
    /// Runs that began before a write of what they tell of: their applications may have read what was there before.
    var overtaken: Set<JobID> = []
    /// For what each action has last succeeded, as far as the living daemon can know.
    var known: [Outside.Reader: SecretInfo] = [:]
    /// Clients of whom nothing was remembered when the daemon first heard of them: what lay in their outputs may count as
    /// what their applications hold until they are told of something.
    var blank: Set<ClientName> = []
    /// Files that somebody wants written, contested or not.
    var asked: Set<AbsolutePath> = []
    var isRefused = false
    var open: [RequestID: Int64] = [:]

    init(_ configuration: Configuration) {
        disturb(nil, configuration, at: 0)
    }

    // MARK: What happens

    mutating func disturb(_ resource: Resource?, _ configuration: Configuration, at boot: Int64) {
        for (name, entry) in configuration.clients {
            switch resource {
            case .file(let path) where !entry.outputs.contains { $0.path == path }: continue
            case .key(let key) where entry.key != key: continue
            default: disturbedAt[name] = boot
            }
            // Of what happens to a file nobody need be told before it is repaired.
            if case .file? = resource { continue }
            told = told.filter { $0.reader.client != name }
        }
        guard let resource else {
            failures = [:]
            return
        }
        failures[resource] = nil
        guard case .file(let path) = resource else { return }
        noticedAt[path] = (noticedAt[path] ?? []).filter { $0 > boot - 2 * 3_600_000 } + [boot]
    }

    /// The daemon is dead.
    mutating func forget() {
        jobs = [:]
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
    }

    mutating func sleep(for milliseconds: Int64) {
        open = open.mapValues { $0 + milliseconds }
    }

    /// The secret that each of a client's actions has last told of, as far as the living daemon can know; before an action
    /// has run, the oldest that actions told of which were the client's before.
    func told(_ name: ClientName, _ entry: ClientConfiguration) -> [SecretInfo?] {
        let actions = entry.onChange.map(\.id)
        let others = known.filter { $0.key.client == name && !actions.contains($0.key.action) }
        let oldest = others.values.min { $0.expiresAt < $1.expiresAt }
        return actions.map { known[.init(client: name, action: $0)] ?? oldest }
    }

    /// Takes in who is served by what works now.
    mutating func see(_ outside: Outside, isAlive: Bool, isClockPossible: Bool, at boot: Int64) {
        for (name, entry) in outside.configuration.clients {
            let isPublishing =
                isAlive && isClockPossible && outside.broken.publishes(entry)
                && !entry.outputs.contains { outside.away.contains($0.path) }
            publishesSince[name] = isPublishing ? publishesSince[name] ?? boot : nil
            let isGood = isPublishing && outside.broken.tells(entry)
            goodSince[name] = isGood ? goodSince[name] ?? boot : nil
        }
        keepsSince = outside.broken.isStateUnusable ? nil : keepsSince ?? boot
    }

    // MARK: What may be expected

    /// For how long nothing has happened to a client.
    func quiet(_ client: ClientName, at boot: Int64) -> Int64 {
        boot - (disturbedAt[client] ?? boot)
    }

    /// Whether everything that a client needs has worked undisturbed for longer than the slowest retry takes.
    func isOwed(_ client: ClientName, _ entry: ClientConfiguration, isSynced: Bool, at boot: Int64) -> Bool {
        guard let since = goodSince[client] else { return false }
        return min(boot - since, quiet(client, at: boot)) > bound(entry, isSynced: isSynced, at: boot)
    }

    /// Whether nothing was made for a client lately that may still be on its way.
    func isDone(_ client: ClientName, at boot: Int64) -> Bool {
        boot - (mintedAt[client] ?? .min / 2) > 90_000
    }

    func keepsLong(at boot: Int64) -> Bool {
        boot - (keepsSince ?? boot) > 120_000
    }

    /// How long what has been mended may stay unnoticed: the slowest pause of all, and some time to act in.
    func bound(_ entry: ClientConfiguration, isSynced: Bool, at boot: Int64) -> Int64 {
        var seconds: Int64 = 60 + 60 + 30 + 30
        let pauses = entry.onChange.map { action -> Int64 in
            switch action {
            case .exec: 900
            case .unit, .signal: 3600
            }
        }
        seconds += (pauses.max() ?? 0) + 60
        if !isSynced { seconds += 620 }
        if wasContested(entry, at: boot) { seconds += 660 }
        return seconds * 1000
    }

    /// Whether somebody else may have been found to write a client's files lately.
    func wasContested(_ entry: ClientConfiguration, at boot: Int64) -> Bool {
        entry.outputs.contains { output in
            (noticedAt[output.path] ?? []).filter { $0 > boot - 2 * 3_600_000 }.count > 2
        }
    }

    func isHung(_ path: AbsolutePath, since moment: Int64) -> Bool {
        jobs.values.contains { $0.resource == .file(path) && $0.startedAt.milliseconds <= moment }
    }

    func job(_ id: JobID) -> Job? { jobs[id] }

    func isMinting(_ client: ClientName) -> Bool {
        jobs.values.contains { $0.resource == .client(client) }
    }

    func isAction(_ id: JobID) -> Bool {
        if case .run? = jobs[id]?.work { true } else { false }
    }

    // MARK: Answers

    mutating func asked(_ requestID: RequestID, at boot: Int64) {
        open[requestID] = boot
    }

    mutating func answered(_ answers: [(RequestID, Answer)], at boot: Int64) throws {
        for (requestID, _) in answers where open.removeValue(forKey: requestID) == nil {
            throw Violation(.answers, "\(requestID) was answered twice")
        }
        // Something may hang for half a minute at each of the steps on a secret's way, one after another.
        for (requestID, moment) in open where boot - moment > 300_000 {
            throw Violation(.answers, "\(requestID) was not answered for five minutes")
        }
    }
}
