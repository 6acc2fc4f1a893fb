import AppleClientSecret
import Rotation

/// What somebody remembers who sees everything that happens: by that it is judged what may be promised at a moment.
/// Moments are in milliseconds of the boot clock.
struct Watch {
    /// An action's run for a client's secret.
    private struct Told: Hashable {
        let reader: Outside.Reader
        let secret: Fingerprint
    }

    /// When something last happened to each client that was not its own doing.
    private var disturbedAt: [ClientName: Int64] = [:]
    /// Since when everything works that each client needs.
    private var goodSince: [ClientName: Int64] = [:]
    /// Since when the state directory works.
    private var keepsSince: Int64?
    private var mintedAt: [ClientName: Int64] = [:]
    /// The last secret that the living daemon has made for each client.
    private var minted: [ClientName: Issued] = [:]
    private var noticedAt: [AbsolutePath: [Int64]] = [:]

    private var jobs: [JobID: Job] = [:]
    /// Jobs that were started for an earlier configuration: that they fail is no reason to wait.
    private var former: Set<JobID> = []
    private var failures: [Resource: (count: Int, at: Int64)] = [:]
    /// Whether each file was there when it was last seen.
    private var exists: [AbsolutePath: Bool] = [:]
    /// Files of which a write has failed since they were last seen.
    private var uncertain: Set<AbsolutePath> = []
    private var told: Set<Told> = []
    /// For what each action has last succeeded, as far as the living daemon can know.
    private(set) var known: [Outside.Reader: Issued] = [:]
    private(set) var isRefused = false
    private var open: [Ticket: Int64] = [:]

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
        exists = [:]
        uncertain = []
        open = [:]
        failures = [:]
        isRefused = false
        minted = [:]
    }

    mutating func sleep(for milliseconds: Int64) {
        open = open.mapValues { $0 + milliseconds }
    }

    /// Takes in who is served by what works now.
    mutating func see(_ outside: Outside, isAlive: Bool, isClockPossible: Bool, at boot: Int64) {
        for (name, entry) in outside.configuration.clients {
            let isGood =
                isAlive && isClockPossible && outside.broken.serves(entry)
                && !entry.outputs.contains { outside.away.contains($0.path) }
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
    func isOwed(_ client: ClientName, _ entry: ClientEntry, isSynced: Bool, at boot: Int64) -> Bool {
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
    func bound(_ entry: ClientEntry, isSynced: Bool, at boot: Int64) -> Int64 {
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
    func wasContested(_ entry: ClientEntry, at boot: Int64) -> Bool {
        entry.outputs.contains { output in
            (noticedAt[output.path] ?? []).filter { $0 > boot - 2 * 3_600_000 }.count > 2
        }
    }

    func isHung(_ path: AbsolutePath, since moment: Int64) -> Bool {
        jobs.values.contains { $0.resource == .file(path) && $0.startedAt.milliseconds <= moment }
    }

    func job(_ id: JobID) -> Job? { jobs[id] }

    func isAction(_ id: JobID) -> Bool {
        if case .run? = jobs[id]?.work { true } else { false }
    }

    // MARK: Pace

    /// Takes in that a job is started, which must not be too soon or for nothing.
    mutating func start(_ job: Job, _ simulator: Simulator) throws {
        let boot = simulator.boot
        jobs[job.id] = job
        if open.isEmpty, let last = failures[job.resource], Fault.Kind(job.work) != .look {
            let pause = Self.pause(after: last.count, of: job)
            // Up to a fifth is taken off by chance.
            if boot - last.at < pause * 800 {
                throw Violation(.pace, "\(job.resource) is tried again after \(boot - last.at) ms")
            }
        }
        switch job.work {
        case .mint(let client, _, _):
            // A minute between scheduled renewals, in the whole seconds of the wall clock and whatever the lifetimes.
            if let last = minted[client], simulator.now.wall < last.issuedAt + Claims.backdating + 60,
                simulator.isWanted(last, of: client), quiet(client, at: boot) > boot - (mintedAt[client] ?? 0)
            {
                throw Violation(.pace, "\(client) was minted twice within a minute")
            }
            if quiet(client, at: boot) > 20_000, simulator.isFresh(client) {
                throw Violation(.pace, "\(client) is minted although its secret is published and not due")
            }
            mintedAt[client] = boot
        case .publish(let spec, let secrets, _):
            let isQuiet = spec.slots.values.allSatisfy { quiet($0, at: boot) > 20_000 }
            if isQuiet, !uncertain.contains(spec.path), simulator.outside.holds(secrets, in: spec.path) {
                throw Violation(.pace, "\(spec.path) is written although it holds all that is to be written")
            }
            // What is repaired may have been read while it was bad.
            if !simulator.outside.holds(secrets, in: spec.path) {
                told = told.filter { !spec.slots.values.contains($0.reader.client) }
            }
        case .run where job.resource.notice != nil: break
        case .run(let action, let covering):
            let isNews = covering.contains { client, covered in
                !told.contains(
                    Told(reader: .init(client: client, action: action.id), secret: covered.issued.fingerprint))
            }
            guard isNews else { throw Violation(.pace, "\(action.id) is run again for nothing") }
        case .readConfiguration, .checkConfiguration, .readKey, .recall, .look, .keep, .recallTold, .keepTold,
            .tidyRecords:
            break
        }
    }

    /// Takes in how a job has ended. Returns the applications that have been told.
    mutating func finish(_ id: JobID, _ result: Result<Outcome, Trouble>, at boot: Int64) -> [Outside.Reader] {
        guard let job = jobs.removeValue(forKey: id) else { return [] }
        guard case .success(let outcome) = result else {
            if case .publish(let spec, _, _) = job.work { uncertain.insert(spec.path) }
            if former.remove(id) == nil {
                failures[job.resource] = ((failures[job.resource]?.count ?? 0) + 1, boot)
            }
            return []
        }
        if Fault.Kind(job.work) != .look { failures[job.resource] = nil }
        if case .file(let path) = job.resource { uncertain.remove(path) }
        switch (job.work, outcome) {
        case (.run(let action, let covering), _):
            for (client, covered) in covering {
                let reader = Outside.Reader(client: client, action: action.id)
                known[reader] = covered.issued
                told.insert(Told(reader: reader, secret: covered.issued.fingerprint))
            }
            return covering.keys.map { Outside.Reader(client: $0, action: action.id) }
        case (.look(let spec), .seen(let look)):
            // One that has come or gone need not wait.
            let existed = exists.updateValue(look.exists, forKey: spec.path)
            if existed != look.exists { failures[job.resource]?.at = .min / 2 }
        case (.publish(let spec, _, _), _): exists[spec.path] = true
        case (.mint(let client, _, _), .minted(let issued)):
            minted[client] = issued
        case (.recall(let client), .recalled(let record)):
            for (action, issued) in record.delivered {
                let reader = Outside.Reader(client: client, action: action)
                known[reader] = known[reader] ?? issued
            }
        case (.readConfiguration, .configuration(let configuration)):
            isRefused = false
            former = Set(jobs.keys)
            known = known.filter { configuration.clients[$0.key.client] != nil }
        case (.readConfiguration, .refused): isRefused = true
        default: break
        }
        return []
    }

    /// The pause after so many failures in a row, in seconds: doubled each time, up to a minute for what is local, a
    /// quarter of an hour for a program, and an hour for a unit whose job has failed three times.
    private static func pause(after failures: Int, of job: Job) -> Int64 {
        guard case .run(let action, _) = job.work else { return min(60, Int64(1) << Int64(min(failures - 1, 6))) }
        let doubled = min(900, Int64(30) << Int64(min(failures - 1, 5)))
        if case .exec = action { return doubled }
        return failures >= 3 ? 3600 : doubled
    }

    // MARK: Answers

    mutating func asked(_ ticket: Ticket, at boot: Int64) {
        open[ticket] = boot
    }

    mutating func answered(_ answers: [(Ticket, Answer)], at boot: Int64) throws {
        for (ticket, _) in answers where open.removeValue(forKey: ticket) == nil {
            throw Violation(.answers, "\(ticket) was answered twice")
        }
        // Something may hang for half a minute at each of the steps on a secret's way, one after another.
        for (ticket, moment) in open where boot - moment > 300_000 {
            throw Violation(.answers, "\(ticket) was not answered for five minutes")
        }
    }
}
