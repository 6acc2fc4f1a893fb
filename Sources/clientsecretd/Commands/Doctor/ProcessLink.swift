import AppleClientSecret
import Daemon
import Failures
import Linux
import Model

/// The secrets in running processes. Those of the configuration's units count, and those of the users and groups that may read an
/// output. A process is judged by its visible parts:
/// - An Apple secret of this client, or in the variable that an output sets, other than the current one: broken. If the
///   configuration names units, another process may belong to another installation, so only an expired secret counts there.
/// - In a variable that an output sets, anything else than a client secret: broken. Of several outputs, only that of the file
///   counts which the unit reads.
/// - The current one in its environment, a credential or an open file: ok.
/// - Started without the variable that its unit reads from an output: not known, because a wrapper may have kept it elsewhere.
/// - Nothing: it may hold the secret in its memory. If it was started before the current one was minted, and `restart:` names its
///   unit, it has an earlier one. A later start proves something only if systemd gives the unit the secret, by `EnvironmentFile=`
///   or as a credential: a program may read another file. If no process of the unit may read an output, it cannot have the
///   secret. It is broken, unless another program may have given it the secret.
extension ChainFacts {
    var processLink: ChainLink {
        guard let processes else {
            return ChainLink(.process, .unknown, "only root can look into the processes that read it")
        }
        guard let current else { return ChainLink(.process, .unknown, "there is no current secret to look for") }
        var found: [ChainLink] = []
        if let stale = hidden.first(where: { $0.unit != nil && $0.isKnown && !$0.isOfNext }), let unit = stale.unit {
            found.append(earlier(stale.words, .restarting(unit)))
        }
        for process in processes {
            for other in process.secrets where concerns(other, in: process) && other.fingerprint != current.fingerprint
            {
                let words = "\(words(process)) holds \(words(other))"
                let remedy = restart(process, holding: other)
                let isValid = other.expiresAt.map { $0 > now } == true
                found.append(isValid ? earlier(words, remedy) : ChainLink(.process, .broken, words, remedy))
            }
        }
        if let link = found.first(where: { $0.state == .broken }) ?? otherValue(processes) ?? found.first {
            return link
        }
        if let first = holders.first {
            return ChainLink(.process, .ok, first + (holders.count > 1 ? ", as do \(holders.count - 1) more" : ""))
        }
        return withoutVariable(processes) ?? unreadable(processes) ?? unseen(processes, since: current)
    }

    /// A process that still uses an earlier secret. That is no error while its action waits for its turn or a rollout. A restart
    /// then would do what the rollout holds back. Of a received secret only the daemon knows that.
    private func earlier(_ words: String, _ remedy: Remedy) -> ChainLink {
        switch view {
        case let view? where view.isDeliveredLater:
            ChainLink(.process, .ok, words + ", and its action waits, as intended")
        case nil where client.source != nil: ChainLink(.process, .unknown, words)
        default: ChainLink(.process, .broken, words, remedy)
        }
    }

    /// The outputs' variables that count in a unit's processes. These are those that it reads from an output; else all, unless
    /// one of the processes is seen to hold the current secret.
    private func variables(of unit: ReaderUnit, _ processes: [ReaderProcess]) -> Set<String> {
        if !unit.variables.isEmpty { return Set(unit.variables.keys) }
        let isHeld = processes.contains { process in
            process.unit == unit.name && process.secrets.contains { $0.fingerprint == current?.fingerprint }
        }
        return isHeld ? [] : Set(client.outputs.compactMap(\.slot.variable))
    }

    /// A process whose variable holds something else than a client secret.
    private func otherValue(_ processes: [ReaderProcess]) -> ChainLink? {
        for unit in units {
            let names = variables(of: unit, processes)
            for process in processes where process.unit == unit.name {
                guard let name = process.otherVariables?.intersection(names).min() else { continue }
                return ChainLink(
                    .process, .broken,
                    "\(words(process)) was started with another value in the variable \(Printable.name(name)), which is no client secret",
                    restart(unit.name))
            }
        }
        return nil
    }

    /// A main process without the variable that its unit reads from an output, if nothing shows the secret.
    private func withoutVariable(_ processes: [ReaderProcess]) -> ChainLink? {
        for unit in units {
            guard let first = processes.first(where: { $0.unit == unit.name }), first.otherVariables != nil,
                let (name, file) = unit.variables.min(by: { $0.key < $1.key })
            else { continue }
            let path = Printable.name(file.path.description)
            let why =
                file.removedBy.map { "\(Printable.name($0)) clears the EnvironmentFile= for \(path)" }
                ?? "\(unit.name) reads it from \(path)"
            return ChainLink(
                .process, .unknown,
                "\(words(first)) was started without the variable \(Printable.name(name)), although \(why)")
        }
        return nil
    }

    /// A unit of which no process may read an output, and nothing shows the secret.
    private func unreadable(_ processes: [ReaderProcess]) -> ChainLink? {
        guard let output = client.outputs.first(where: { FileSlot.whole == $0.slot }) ?? client.outputs.first,
            // The readers of a missing file are unknown.
            writtenAt != nil
        else { return nil }
        for unit in units where unit.isConfigured && unit.variables.isEmpty {
            let ofUnit = processes.filter { $0.unit == unit.name && $0.owner != nil }
            guard let first = ofUnit.first, let owner = first.owner,
                !ofUnit.contains(where: { readers.include(user: $0.owner, groups: $0.groups) })
            else { continue }
            let path = Printable.name(output.path.description)
            let found = "\(words(first)) runs as \(Owner.words(user: owner)), who may not read \(path)"
            // Such a program may copy it to another place that the process reads.
            if unit.runsCommandsFirst || client.onChange.contains(where: \.runsProgram) {
                return ChainLink(.process, .unknown, found)
            }
            let advice =
                output.slot.variable == nil
                ? "write \"group:\" with a group of that user and mode: \"0640\" under the output, or use a credential of the unit"
                : "write \(UnitFileLine.environmentFile(output.path.description)) into the unit, which systemd reads as root"
            return ChainLink(.process, .broken, found, .say(advice))
        }
        return nil
    }

    /// The processes that are seen to hold the current secret, each in words.
    var holders: [String] {
        (processes ?? []).compactMap { process in
            process.secrets.first { concerns($0, in: process) && $0.fingerprint == current?.fingerprint }
                .map { "\(words(process)) holds it in \($0.words)" }
        }
    }

    /// Whether a secret in a process is one of this client, or in the place of one.
    private func concerns(_ secret: HeldSecret, in process: ReaderProcess) -> Bool {
        let isOfUnit = units.contains { $0.name == process.unit }
        guard isOfUnit || readers.include(user: process.owner, groups: process.groups) else { return false }
        if secret.client.flatMap({ ClientID($0) }).map(client.clientID.accepts) == true {
            return isOfUnit || units.isEmpty || secret.fingerprint == current?.fingerprint
                || secret.expiresAt.map { $0 <= now } == true
        }
        // Another program may use the same variable for another client.
        guard case .variable(let name) = secret.place, isOfUnit else { return false }
        return client.outputs.contains { $0.slot == .variable(name) }
    }

    /// By the times at which the main processes were started; their other processes are younger.
    private func unseen(_ processes: [ReaderProcess], since current: SecretInfo) -> ChainLink {
        let running = units.compactMap { unit in
            processes.first { $0.unit == unit.name }.map { (unit: unit, main: $0) }
        }
        var started: [String] = []
        // By a clock that is not trusted no order in time is known.
        for (unit, first) in running where clockFailure == nil && unit.isRestarted(by: client) {
            guard let start = first.startedAt else { continue }
            if start < current.issuedAt {
                return earlier(
                    "\(words(first)) was started at \(start), before the current secret was minted",
                    .restarting(unit.name))
            }
            if unit.isGivenSecret(of: client), let writtenAt, writtenAt <= start { started.append(words(first)) }
        }
        if !started.isEmpty, started.count == units.count {
            return ChainLink(
                .process, .ok, "\(started.joined(separator: ", ")): started after the secret was written")
        }
        guard !running.isEmpty else {
            let words = units.isEmpty ? "no process is known to read it" : "no process of its units runs"
            return ChainLink(.process, .unknown, words)
        }
        let forbidden = running.filter { $0.main.isForbidden }.map { words($0.main) }.sorted()
        guard forbidden.isEmpty else {
            let names = forbidden.joined(separator: ", ")
            return ChainLink(
                .process, .unknown, "\(names): this user may not look into it, so it is not known what it holds")
        }
        let all = running.map { words($0.main) }.sorted()
        return ChainLink(
            .process, .unknown,
            "\(all.joined(separator: ", ")): the secret is not in environment, credentials or open files; a program "
                + "that reads a file by itself keeps it in its memory; check that its configuration names the output")
    }

    private func words(_ process: ReaderProcess) -> String {
        let unit = process.unit.map { "\($0), " } ?? ""
        return "process \(process.id) (\(unit)\(Printable.foreign(process.command)))"
    }

    private func words(_ secret: HeldSecret) -> String {
        let end = secret.expiresAt.map { ", which \(TimeWords.expiry($0, to: now))" } ?? ""
        return "\(secret.fingerprint) in \(secret.words)\(end)"
    }

    /// There is a command only for a unit that the configuration names, or whose settings name an output. Otherwise another
    /// user's process with an invented secret would choose which unit root restarts. A program that pm2 or a container keeps gets
    /// the same environment again.
    private func restart(_ process: ReaderProcess, holding secret: HeldSecret) -> Remedy {
        if let unit = process.unit, units.contains(where: { $0.name == unit }) { return restart(unit) }
        guard case .variable(let name) = secret.place else { return .say("start process \(process.id) again") }
        return .say(
            "remove \(Printable.foreign(name)) from the environment of process \(process.id) and start it again")
    }

    /// There is a command only if it may help. A unit that was started after the write and not changed since would get the same
    /// secret again.
    private func restart(_ unit: String) -> Remedy {
        let started = (processes ?? []).filter { $0.unit == unit }.compactMap(\.startedAt).min()
        let changed = units.first { $0.name == unit }?.changedAt
        // All are known to the second.
        if clockFailure == nil, let started, let writtenAt, max(writtenAt, changed ?? writtenAt) + 1 < started {
            return .say(
                "it was started after the current secret was written, so something that starts it sets another value: correct "
                    + "that and restart \(unit)", see: .cat(unit))
        }
        return .restarting(unit)
    }
}
