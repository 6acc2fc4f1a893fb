internal import AppleClientSecret
internal import Config
internal import Failures
internal import Glibc
package import Linux
package import Model
internal import SystemPackage
internal import Systemd

/// The action kinds `restart`, `reload`, `reload_or_restart`, `start` and `signal`: systemd carries them out on a unit.
///
/// The rules:
/// - A unit that a user stopped stays stopped: its next start reads the new secret.
/// - Each order has a bus connection of its own and is waited for until systemd reports how its job ended.
/// - One that failed is given again after a pause; once a unit's job has failed three times, hourly (Rotation/RetryPause).
/// - The daemon's own service is never restarted: actions at each start would restart it for ever. The configuration
///   refuses the shipped units' names; a service of another name is known only from within.
/// - Without the right to give an order the failure names the polkit rule that gives it.
package struct UnitAction: Sendable {
    private let cancel: EventCounter?
    private let ended = EndedStarts()

    /// - Parameter cancel: signalled at shutdown: an order that has not ended by then counts as interrupted.
    package init(cancel: EventCounter?) {
        self.cancel = cancel
    }

    /// Has systemd carry out an action, and waits for the result. Blocks.
    func run(_ action: Action) throws(Failure) {
        guard let (order, unit) = action.order else { return }
        var isOwn = false
        let began = Clocks.monotonicMicroseconds()
        do throws(UnitError) {
            var systemd = try SystemdClient(
                timeout: UnitTimeouts.order, ofJobs: UnitTimeouts.job, ofAnswers: UnitTimeouts.repetition,
                cancel: cancel)
            if let own = OwnUnit.service { isOwn = try systemd.ownName(of: unit) == own }
            if !isOwn { try systemd.carryOut(order, on: unit, ended: ended) }
        } catch {
            let passed = Seconds((Clocks.monotonicMicroseconds() - began) / 1_000_000)
            throw Failure(error, of: action, for: Identity.current().user, after: passed)
        }
        guard !isOwn else {
            throw Failure(
                .actionNotStarted, at: .action(action.id), detail: "\(unit) is the service that runs the daemon",
                remedy: .say("remove the action: the daemon needs no restart"))
        }
    }

    /// Why a user could not have these actions run, without running any; those of other kinds are left out. Blocks.
    package func problems(with actions: [Action], as user: UInt32) -> [Action: Failure] {
        review(actions, as: user).problems
    }

    /// The same, and which of them have no effect now. That is no failure: a stopped unit stays so.
    package func review(
        _ actions: [Action], as user: UInt32
    ) -> (problems: [Action: Failure], withoutEffect: [Action: Failure]) {
        var orders = actions.compactMap { action in action.order.map { (action, $0) } }[...]
        guard !orders.isEmpty else { return ([:], [:]) }
        var found: [Action: Failure] = [:]
        var withoutEffect: [Action: Failure] = [:]
        let timeout = Seconds(UnitTimeouts.answer / 1_000)
        do throws(UnitError) {
            var systemd = try SystemdClient(timeout: UnitTimeouts.answer, as: user, cancel: cancel)
            while let (action, (order, unit)) = orders.first {
                if let problem = try systemd.problem(with: order, on: unit) {
                    // The problem is reported even if no name can be suggested.
                    let near = problem == .noSuchUnit ? (try? Self.unit(near: unit, in: &systemd)) : nil
                    found[action] = Failure(
                        problem, of: action, for: user, after: timeout, near: near)
                } else if try systemd.isWithoutEffect(order, on: unit) {
                    withoutEffect[action] = Failure(
                        .unitMasked, at: .action(action.id),
                        detail: "it is stopped too, so the action does nothing until the unit is unmasked and started",
                        remedy: .say("if its application is gone, remove the action; else see who has masked it"))
                }
                orders.removeFirst()
            }
        } catch {
            // Those before it were answered.
            for (action, _) in orders {
                found[action] = Failure(error, of: action, for: user, after: timeout)
            }
        }
        return (found, withoutEffect)
    }

    /// The loaded unit whose name was most likely meant; nil if none is near.
    private static func unit(near name: String, in systemd: inout SystemdClient) throws(UnitError) -> String? {
        // The suffix is a kind of unit that systemd knows: nothing in it means anything to a pattern.
        guard let start = name.first, let dot = name.lastIndex(of: ".") else { return nil }
        let names = try systemd.units(matching: "*\(name[dot...])")
        return nearest(to: name, among: names.filter { $0.first == start })
    }
}

extension Action {
    /// The polkit rule that lets the user have the action carried out; nil for an action that needs none, and if polkit would
    /// ignore it.
    package func rule(for id: UInt32) -> String? {
        // A user without a name is called by its number.
        rule(forUser: (try? Accounts.user(id: id))?.name ?? String(id))
    }

    /// The same for a user's name, which may have no account yet.
    package func rule(forUser name: String) -> String? {
        guard let (order, unit) = order, PolkitVersion.ignoringRules == nil else { return nil }
        // polkit is asked about a unit by its own name, of which the configuration's may be an alias.
        let ownName = SystemManager.isSystemd ? SystemdClient.ownName(of: unit) : unit
        return PolkitRule.text(user: name, unit: ownName, verbs: order.verbs)
    }

    /// The order for systemd; nil for an action that systemd has no part in. A unit that has failed is started, unlike one
    /// that was stopped: no user stopped it on purpose.
    fileprivate var order: (UnitOrder, unit: String)? {
        switch self {
        case .exec, .redeploy: nil
        case .unit(.restart, let unit): (.tryRestart, unit)
        case .unit(.reload, let unit): (.reload, unit)
        case .unit(.reloadOrRestart, let unit): (.reloadOrTryRestart, unit)
        case .unit(.start, let unit): (.start, unit)
        case .signal(let unit, let name): SignalName.numbers[name].map { (.signal($0), unit) }
        }
    }
}

extension Remedy {
    /// Adds a rule to polkit's file. A rule that the file has already does not apply, and would not if it were there twice. The
    /// daemon cannot see whether it is there.
    static func addingPolkitRule(_ rule: String, to file: String) -> Remedy {
        let context = CommandContext.current
        let log = ShellCommand.journal(of: "polkit")
        guard context.missing([rule], from: file).isEmpty else {
            let look = log.map { " (\($0.text))" } ?? ""
            return .say(
                context.knowsLines(of: file)
                    ? "add a polkit rule"
                    : "if \(file) has the rule already, see why it does not apply\(look); else add it",
                run: .addPolkitRule(rule, to: file))
        }
        return .say(
            "\(file) has the rule, and it does not apply: if polkit reports an error in that file, correct it, else change "
                + "the rule that refuses it in a file that comes earlier by name", see: log)
    }

    /// The same if polkit is not installed.
    static func installingPolkit(withRule rule: String, in file: String) -> Remedy {
        let context = CommandContext.current
        guard context.missing([rule], from: file).isEmpty else {
            let unless = context.knowsLines(of: file) ? "" : ", unless it is there already"
            return .say("apt-get install polkitd, then write into \(file)\(unless): \(rule)")
        }
        return .say("apt-get install polkitd, which then reads the rule that \(file) has")
    }
}

extension Failure {
    /// - Parameter name: the unit that was probably meant, if no unit has the action's name.
    fileprivate init(
        _ error: UnitError, of action: Action, for user: UInt32, after timeout: Seconds, near name: String? = nil
    ) {
        let (code, cause, detail): (Code, Int32?, String?) =
            switch error {
            case .unreachable(let errno): (.busUnreachable, errno.rawValue, nil)
            case .notPermitted: (.unitNotPermitted, nil, nil)
            case .polkitMissing: (.polkitMissing, nil, nil)
            case .polkitFailed(let words): (.polkitFailed, nil, Self.withoutStop(words))
            case .noSuchUnit: (.unitUnknown, nil, nil)
            case .masked: (.unitMasked, nil, nil)
            case .broken(let load): (.unitRefused, nil, "it cannot use the unit's file (LoadState=\(load))")
            case .impossible(let property): (.unitRefused, nil, "the unit has \(property)")
            case .needed(let words), .refused(let words): (.unitRefused, nil, Self.withoutStop(words))
            case .failed: (.unitFailed, nil, nil)
            case .ended: (.unitEnded, nil, nil)
            case .job(.failed): (.jobFailed, nil, nil)
            case .job(.timeout): (.jobTimedOut, nil, nil)
            case .job(.canceled): (.jobCanceled, nil, nil)
            case .job(.dependency): (.jobDependency, nil, nil)
            case .job(.skipped): (.jobSkipped, nil, nil)
            case .job(.other(let result)): (.jobFailed, nil, result)
            case .timedOut: (.jobTimedOut, nil, "no answer for \(timeout.count) s")
            case .cancelled: (.actionInterrupted, nil, nil)
            }
        let remedy: Remedy? =
            switch error {
            case .unreachable: Self.withoutSystemd
            case .noSuchUnit:
                name.map {
                    .say("correct the unit's name (did you mean \"\($0)\"?), or see what there is", see: .listUnits)
                }
            case .impossible("CanReload=no"):
                .say("write restart: or reload_or_restart:, or ExecReload= into the unit")
            case .impossible(let property):
                .say("write another action, or remove \(property) from the unit's [Unit] section")
            case .needed: .say("see what it needs", see: action.order.flatMap { .dependencies(of: $0.unit) })
            case .notPermitted where PolkitVersion.ignoringRules != nil:
                .say(
                    "polkit \(PolkitVersion.ignoringRules ?? "") ignores the rule that would allow it: remove the action, and let "
                        + "a path unit of systemd watch the output (PathChanged=)")
            case .notPermitted:
                action.rule(for: user).map { .addingPolkitRule($0, to: PolkitRule.file) }
            case .polkitMissing:
                action.rule(for: user).map { .installingPolkit(withRule: $0, in: PolkitRule.file) }
            default: nil
            }
        self.init(code, at: .action(action.id), cause: cause, detail: detail, remedy: remedy)
    }

    /// systemd's message without its full stop.
    private static func withoutStop(_ words: String) -> String {
        Printable.clause(words.hasSuffix(".") ? String(words.dropLast()) : words)
    }

    /// The remedy if there is no systemd to ask; nil otherwise.
    private static var withoutSystemd: Remedy? {
        SystemManager.isSystemd
            ? nil : .say("use exec: instead, because systemd does not run this machine")
    }
}
