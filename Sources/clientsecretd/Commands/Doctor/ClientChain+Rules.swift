import AppleClientSecret
import Daemon
import Failures
import Linux
import Model
import Rotation
import SignIn
import StatusAPI

/// The rules by which facts become links. Each quotes a judgement that another command makes; only the process link has its own
/// (`ProcessLink.swift`).
extension ClientChain {
    init(_ facts: ChainFacts) {
        client = facts.name
        links = [
            facts.keyLink, facts.idsLink, facts.clockLink, facts.secretLink, facts.outputsLink, facts.hiddenLink,
            facts.unitLink, facts.processLink, facts.appleLink,
        ]
    }
}

extension ChainFacts {
    // MARK: Key, ids and clock

    fileprivate var keyLink: ChainLink {
        if let link = link(.key, problems.first(where: isOfKey)) { return link }
        switch key.location {
        case .file(let path): return ChainLink(.key, .ok, "\(Printable.name(path.description)) can be used")
        case .credential(let name): return ChainLink(.key, .ok, "the credential \(Printable.name(name)) can be used")
        case .publicKey: return ChainLink(.key, .ok, "this machine has the public half; another one mints")
        }
    }

    private func isOfKey(_ failure: Failure) -> Bool {
        let locations = [key.location] + [key.passphrase].compactMap(\.self)
        return switch failure.place {
        case .key(let name): client.keys.contains(name)
        case .path(let path): locations.contains(.file(path))
        case .credential(let name): locations.contains(.credential(name))
        default: false
        }
    }

    fileprivate var idsLink: ChainLink {
        let key = signer ?? key
        let ids = "team \(key.team), key \(key.keyID), " + client.clientID.words
        if case .file(let path) = key.location, let inName = KeyID(fileName: path.name), inName != key.keyID {
            return ChainLink(
                .ids, .broken, "key_id is \(key.keyID), but the file is called \(path.name): \(ids)",
                .say("remove key_id, or name the file of that key"))
        }
        if let advice = certain([.team, .client, .form]) {
            let renewal = Remedy.renew(name.description)
            let end = "; \(PublishedSecret.words(renewal))"
            guard advice.hasSuffix(end) else { return ChainLink(.ids, .broken, "\(ids): \(advice)") }
            return ChainLink(.ids, .broken, "\(ids): \(advice.dropLast(end.count))", renewal)
        }
        return ChainLink(.ids, .ok, ids)
    }

    fileprivate var clockLink: ChainLink {
        if let daemonsClock { return daemonsClock }
        if let failure = problems.first(where: { $0.place == .clock }) { return ChainLink(.clock, broken: failure) }
        if let clockFailure { return ChainLink(.clock, broken: clockFailure) }
        if now < Version.builtAt {
            return ChainLink(.clock, broken: Failure(.clockBeforeBuild, at: .clock))
        }
        if let advice = certain([.clock]) { return ChainLink(.clock, .broken, advice, .say("set it", see: .clock)) }
        return isSynchronised
            ? ChainLink(.clock, .ok, "synchronised")
            : ChainLink(.clock, .unknown, "it shows \(now), but the kernel does not report it as synchronised")
    }

    /// The clock as the daemon judges it, which has seen it run; nil where it finds nothing wrong.
    private var daemonsClock: ChainLink? {
        let codes: [Failure.Code] = [.clockBeforeBuild, .clockDoubtful, .clockPerhapsAhead]
        guard let failure = view?.reasonReport?.failure, codes.contains(where: { $0.rawValue == failure.code }) else {
            return nil
        }
        return ChainLink(.clock, broken: failure)
    }

    /// What a refusal by Apple proves.
    private func certain(_ causes: Set<RefusalAdvice.Cause>) -> String? {
        guard case .answered(let result) = verdict else { return nil }
        return result.advice.first { $0.isCertain && causes.contains($0.cause) }?.words
    }

    // MARK: Secret and outputs

    fileprivate var secretLink: ChainLink {
        let shared = problems.first { failure in
            if case .client(name) = failure.place { return true }
            // A daemon that runs is not harmed yet.
            return failure.code == .stateUnusable
                || failure.code == .unitCannotStart && view == nil && !isOfReader(failure)
        }
        if let link = link(.secret, shared) { return link }
        if let current {
            let words = "\(current.fingerprint), which \(TimeWords.expiry(current.expiresAt, to: now))"
            guard now < current.expiresAt else {
                if clockFailure != nil || daemonsClock != nil {
                    return ChainLink(.secret, .unknown, words + " by this clock, which is not trusted")
                }
                return ChainLink(.secret, .broken, words, renewal)
            }
            return ChainLink(.secret, .ok, words)
        }
        if let reason = view?.reasonReport {
            return reason.failure.map { ChainLink(.secret, broken: $0) }
                ?? ChainLink(.secret, .broken, reason.sentence)
        }
        switch decision {
        case .mint where evaluation?.failure?.code == .notResponding:
            return ChainLink(.secret, .unknown, "none is known, because an output does not respond")
        case .mint(let reason):
            let words = "there is none; one would be minted, \(reason.words)"
            return ChainLink(.secret, isForCallerOnly ? .unknown : .broken, words, renewal)
        case .receive: return ChainLink(.secret, .broken, "its source offers none that this machine can use")
        default: return ChainLink(.secret, .unknown, "the steps before it have to work first")
        }
    }

    private var renewal: Remedy {
        if view != nil { return .renew(name.description) }
        guard let unit = ShellCommand.daemonUnit, CommandContext.current.hasSystemd else {
            return .say("start the daemon", run: .runDaemon)
        }
        return ShellCommand.start(unit).map { Remedy.run($0) }
            ?? .say("see what keeps \(unit) from its start", see: .check)
    }

    fileprivate var outputsLink: ChainLink {
        let paths = client.outputs.map(\.path)
        let problem = problems.first { failure in
            switch failure.place {
            case .path(let path): paths.contains(path) && !isOfKey(failure)
            case .target(let target): client.targets.contains { $0.target == target }
            default: false
            }
        }
        if let link = link(.outputs, problem) { return link }
        if let output = view?.outputs.first(where: { $0.state != .ok }) {
            let isHeld = client.targets.isEmpty && isCurrentEverywhere
            let place = output.path.map { Printable.name($0.description) } ?? output.target?.description ?? ""
            return ChainLink(
                .outputs, isHeld ? .warning : .broken, output.error ?? "\(place): it is \(output.state.rawValue)",
                remedy(of: output.error, else: .renew(name.description)))
        }
        if !paths.isEmpty, let failure = evaluation?.failure, evaluation?.health != .ok, failure.place != .clock,
            failureOfDelivery == nil
        {
            let isUnknown = evaluation?.health == nil
            return ChainLink(
                .outputs, isUnknown ? .unknown : .broken, failure.message,
                isUnknown || isForCallerOnly ? nil : failure.remedy)
        }
        if let current, let other = published.first(where: { $0.fingerprint != current.fingerprint }) {
            return ChainLink(
                .outputs, .broken, "\(Printable.name(other.place)) holds \(other.fingerprint), an earlier secret",
                .deliver(name.description))
        }
        if let warning = view?.outputs.lazy.compactMap(\.error).first {
            return ChainLink(.outputs, .warning, warning, remedy(of: warning))
        }
        return ChainLink(.outputs, .ok, places)
    }

    /// What keeps applications from a secret that all outputs hold; nil where nothing is known to.
    private var failureOfDelivery: Failure? {
        guard let current, let failure = evaluation?.failure, case .client = failure.place, isCurrentEverywhere
        else { return nil }
        // The weakest is another one where applications were told of an earlier secret, which they may still use.
        return failure.code == .notDelivered || evaluation?.secret?.isSame(as: current) == false ? failure : nil
    }

    /// Whether each file of the outputs holds the current secret.
    private var isCurrentEverywhere: Bool {
        isEachOutputRead && !published.isEmpty && published.allSatisfy { $0.fingerprint == current?.fingerprint }
    }

    /// What helps against an error that the daemon shows: the remedy of its reason, if the error is that reason.
    private func remedy(of error: String?, else other: Remedy? = nil) -> Remedy? {
        guard let error, let reason = view?.reasonReport, reason.sentence.contains(error),
            let failure = reason.failure, let remedy = failure.remedy
        else { return other }
        return .reported(remedy, command: failure.command)
    }

    private var places: String {
        let files = Set(client.outputs.map(\.path)).sorted().map { Printable.name($0.description) }
        let targets = client.targets.map {
            "target \($0.target)" + (view == nil ? ", which only the daemon knows" : "")
        }
        let all = files + targets
        guard let first = all.first else {
            return client.credential.map { "served to \($0.unit) as the credential \($0.name)" } ?? "there are none"
        }
        return all.count == 1 ? "\(first) holds it" : "\(first) and \(all.count - 1) more hold it"
    }

    // MARK: What hides it, and who reads it

    /// What hides the secret is harmless where a process is seen to hold the current one anyway. That it was started since
    /// shows only that it has read something.
    fileprivate var hiddenLink: ChainLink {
        guard let first = hidden.first(where: { $0.unit == nil }) else {
            guard let silent = silent.first else { return ChainLink(.hidden, .ok, "nothing hides it") }
            return ChainLink(
                .hidden, .unknown, "\(Printable.name(silent)): \(DiskTimeout.words), so not everything was looked at")
        }
        let line = first.line.map { ":\($0)" } ?? ""
        let place = "\(Printable.name(first.file))\(line)"
        guard processLink.state == .ok, !holders.isEmpty else {
            return ChainLink(.hidden, .broken, "\(place): \(first.words)", first.remedy)
        }
        return ChainLink(.hidden, .warning, "\(place): \(first.words)" + (first.remedy.map { "; \($0)" } ?? ""))
    }

    fileprivate var unitLink: ChainLink {
        let ids = client.onChange.map(\.id)
        let problem = problems.first { failure in
            if case .action(let id) = failure.place { return ids.contains(id) }
            return isOfReader(failure)
        }
        if let link = link(.unit, problem) { return link }
        // The daemon may not have read yet that the list is empty now.
        if !client.onChange.isEmpty, let action = view?.actions.first(where: { $0.state != .ok }) {
            let words = "\(action.action): \(action.state == .pending ? "it has not run yet" : "it has failed")"
            return ChainLink(
                .unit, .broken, action.error ?? words, remedy(of: action.error, else: .deliver(name.description)))
        }
        if view == nil, let failure = failureOfDelivery {
            return ChainLink(.unit, .broken, failure.message, .deliver(name.description))
        }
        if let unit = units.first(where: { $0.activity == "failed" }) {
            return ChainLink(
                .unit, .broken, "\(unit.name) has failed",
                .say("correct the error that it reports, then start it", see: .status(of: unit.name)))
        }
        if let unit = units.first(where: { !$0.isConfigured }) {
            let file = unit.variables.values.map(\.path.description).min().map(Printable.name) ?? "an output"
            return ChainLink(
                .unit, .warning,
                "\(unit.name) reads \(file) when it starts, and nothing restarts it after a renewal; write "
                    + "\"restart: \(unit.name)\" under on_change")
        }
        guard !units.isEmpty else {
            return client.onChange.isEmpty
                ? ChainLink(
                    .unit, .unknown,
                    "on_change restarts nothing: if the application reads the secret only at its start, "
                        + "write \"restart: UNIT\" there")
                : ChainLink(.unit, .ok, client.onChange.map(\.id.description).joined(separator: ", "))
        }
        return ChainLink(
            .unit, units.contains { $0.activity == nil } ? .unknown : .ok,
            units.map { "\($0.name) is \($0.activity ?? "not known to systemd here")" }.joined(separator: ", "))
    }

    /// Whether the unit that loads the secret as a credential cannot start, whatever the daemon does.
    private func isOfReader(_ failure: Failure) -> Bool {
        failure.code == .unitCannotStart && client.credential.map { failure.place == .named($0.unit) } == true
    }

    /// A problem that `check` finds; it says nothing about the daemon where another user asks.
    private func link(_ name: ChainLink.Name, _ failure: Failure?) -> ChainLink? {
        failure.map { failure in
            guard isForCallerOnly else { return ChainLink(name, broken: failure) }
            let advice = ShellCommand.doctorAsRoot.map { "; run: \($0.text)" } ?? ""
            return ChainLink(name, .unknown, "only root can check this\(advice)")
        }
    }

    // MARK: Apple

    fileprivate var appleLink: ChainLink {
        switch verdict {
        case .notAsked(let reason): return ChainLink(.apple, .unknown, reason)
        case .answered(let result):
            let words = result.lines.first.map { line in
                String(line.dropFirst("\(name): ".count))
            }
            switch result.outcome {
            case .accepted: return ChainLink(.apple, .ok, words ?? "accepted")
            case .unknown: return ChainLink(.apple, .unknown, words ?? "not known")
            case .refused:
                let command = Remedy.renew(name.description).command
                let advice = result.advice.first.map { Remedy.reported($0.words, command: command) }
                return ChainLink(.apple, .broken, words ?? "refused", advice)
            }
        }
    }
}
