import AppleClientSecret
import Config
import Failures
import Glibc
import Linux
import Rotation
import SystemPackage
import Systemd

/// Has systemd carry out what actions ask for units, and waits for the result.
struct UnitRunner: Sendable {
    /// Raised at shutdown: an order whose end was not seen by then counts as not carried out.
    let cancel: EventCounter?
    var ended: EndedStarts? = nil

    /// How long an order may take before it is said to have failed; systemd's own limits are 90 s for a start and 90 s
    /// for a stop (DefaultTimeoutStartSec=, DefaultTimeoutStopSec=), and what was started is watched for some seconds.
    private static let patience: Seconds = 200
    /// A question about permissions is answered at once, or by a polkit that is being started.
    private static let askingPatience: Seconds = 10

    /// On a connection that ends with the delivery.
    func run(_ action: Action) throws(Failure) {
        guard let (order, unit) = action.order else { return }
        do throws(UnitError) {
            var systemd = try UnitManager(patience: Self.patience.count * 1_000, cancel: cancel)
            try systemd.carryOut(order, on: unit, ended: ended)
        } catch {
            throw Failure(error, of: action, for: Identity.current().user, after: Self.patience)
        }
    }

    /// What would keep a user from having these actions carried out; none of them is.
    func obstacles(to actions: [Action], as user: UInt32) -> [Action: Failure] {
        let orders = actions.compactMap { action in action.order.map { (action, $0) } }
        guard !orders.isEmpty else { return [:] }
        var found: [Action: Failure] = [:]
        do throws(UnitError) {
            var systemd = try UnitManager(patience: Self.askingPatience.count * 1_000, as: user, cancel: cancel)
            for (action, (order, unit)) in orders {
                if let obstacle = try systemd.obstacle(to: order, on: unit) {
                    found[action] = Failure(obstacle, of: action, for: user, after: Self.askingPatience)
                }
            }
        } catch {
            for (action, _) in orders {
                found[action] = Failure(error, of: action, for: user, after: Self.askingPatience)
            }
        }
        return found
    }
}

extension Action {
    /// What systemd is asked for; nil for a program. A unit that is stopped stays stopped: its next start reads the new
    /// secret. So would that of one that has failed, but nobody wanted that to be down.
    fileprivate var order: (UnitOrder, unit: String)? {
        switch self {
        case .exec: nil
        case .unit(.restart, let unit): (.tryRestart, unit)
        case .unit(.reload, let unit): (.reload, unit)
        case .unit(.reloadOrRestart, let unit): (.reloadOrTryRestart, unit)
        case .unit(.start, let unit): (.start, unit)
        case .signal(let unit, let name): SignalName.numbers[name].map { (.signal($0), unit) }
        }
    }

    /// The rule of polkit's that lets the user do it; nil for what needs none.
    fileprivate func rule(for id: UInt32) -> String? {
        guard let (order, unit) = order else { return nil }
        // A user without a name is called by its number.
        let user = (try? Accounts.user(id: id))?.name ?? String(id)
        return PolkitRule.text(user: user, unit: unit, verbs: order.verbs)
    }
}

extension Failure {
    fileprivate init(_ error: UnitError, of action: Action, for user: UInt32, after patience: Seconds) {
        let (code, cause, detail): (Code, Int32?, String?) =
            switch error {
            case .unreachable(let errno): (.busUnreachable, errno.rawValue, nil)
            case .notPermitted: (.unitNotPermitted, nil, nil)
            case .polkitMissing: (.polkitMissing, nil, nil)
            case .noSuchUnit: (.unitUnknown, nil, nil)
            case .masked: (.unitMasked, nil, nil)
            case .refused(let words): (.unitRefused, nil, Self.withoutStop(words))
            case .failed: (.unitFailed, nil, nil)
            case .ended: (.unitEnded, nil, nil)
            case .job(.failed): (.jobFailed, nil, nil)
            case .job(.timeout): (.jobTimedOut, nil, nil)
            case .job(.canceled): (.jobCanceled, nil, nil)
            case .job(.dependency): (.jobDependency, nil, nil)
            case .job(.skipped): (.jobSkipped, nil, nil)
            case .job(.other(let result)): (.jobFailed, nil, result)
            case .timedOut: (.jobTimedOut, nil, "nothing heard for \(patience.count) s")
            case .cancelled: (.actionInterrupted, nil, nil)
            }
        let remedy: Remedy? =
            switch error {
            case .unreachable: Self.withoutSystemd
            case .notPermitted: Self.advice(for: action, user)
            case .polkitMissing: Self.advice(for: action, user, "apt-get install polkitd, then ")
            default: nil
            }
        self.init(code, at: .action(action.id), cause: cause, detail: detail, remedy: remedy)
    }

    /// systemd's sentence as a part of ours.
    private static func withoutStop(_ words: String) -> String {
        Printable.clause(words.hasSuffix(".") ? String(words.dropLast()) : words)
    }

    /// What helps where there is no systemd to be asked (sd_booted(3)).
    private static var withoutSystemd: Remedy? {
        unsafe access("/run/systemd/system", F_OK) == 0
            ? nil : .say("tell the application by exec: instead, for systemd does not run this machine")
    }

    private static func advice(for action: Action, _ user: UInt32, _ before: String = "") -> Remedy? {
        action.rule(for: user).map { .say("\(before)write into \(PolkitRule.file): \($0)") }
    }
}
