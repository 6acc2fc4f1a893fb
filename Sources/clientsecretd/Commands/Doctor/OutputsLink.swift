import AppleClientSecret
import Failures
import Model
import Rotation
import StatusAPI

/// Whether each output holds the current secret.
extension ChainFacts {
    var outputsLink: ChainLink {
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
            let words = output.error ?? "\(place): it is \(output.state.rawValue)"
            if output.state == .pending { return pendingLink(.outputs, words) }
            return ChainLink(
                .outputs, isHeld ? .warning : .broken, words, output.remedy ?? .renew(name.description))
        }
        if let link = evaluationLink { return link }
        if let current, let other = published.first(where: { $0.fingerprint != current.fingerprint }) {
            return ChainLink(
                .outputs, .broken, "\(Printable.name(other.place)) holds \(other.fingerprint), an earlier secret",
                .deliver(name.description))
        }
        if let output = view?.outputs.first(where: { $0.error != nil }), let warning = output.error {
            return ChainLink(.outputs, .warning, warning, output.remedy)
        }
        if let target = client.targets.map(\.target).first(where: { sight(of: $0) == .unknown }) {
            let words =
                view == nil
                ? "only the daemon knows whether target \(target) holds it"
                : "target \(target) has taken it, and does not show it yet"
            return ChainLink(.outputs, .unknown, words)
        }
        return ChainLink(.outputs, .ok, places)
    }

    /// Read without the daemon. If the daemon finds no problem, only failures that keep applications from any secret count: it
    /// knows more about work in progress.
    private var evaluationLink: ChainLink? {
        guard let evaluation, let failure = evaluation.failure, evaluation.health != .ok, failure.place != .clock,
            failureOfDelivery == nil, !client.outputs.isEmpty || evaluation.health != nil,
            view?.health != .ok || evaluation.health != .degraded
        else { return nil }
        // No daemon of the service judges without its key: only this caller may not read it.
        let isUnknown = evaluation.health == nil || failure.code == .signatureUnchecked
        return ChainLink(
            .outputs, isUnknown ? .unknown : .broken, failure.message,
            isUnknown || isForCallerOnly ? nil : failure.remedy)
    }

    /// The state of a target's place.
    private enum Sight {
        /// The API shows the secret.
        case shown
        /// The API took it, and does not show its content; or it was pushed before, and no daemon has looked since.
        case taken
        case unknown
    }

    private func sight(of target: TargetName) -> Sight {
        guard let view else { return evaluation?.supplied?.contains(target) == true ? .taken : .unknown }
        switch view.outputs.first(where: { $0.target == target })?.verified {
        case true?: return .shown
        case false?: return .unknown
        case nil: return .taken
        }
    }

    /// The failure that keeps applications from a secret that all outputs hold; nil if none is known.
    var failureOfDelivery: Failure? {
        guard let current, let failure = evaluation?.failure, case .client = failure.place, isCurrentEverywhere
        else { return nil }
        // The weakest is another one if applications were notified of an earlier secret, which they may still use.
        return failure.code == .notDelivered || evaluation?.secret?.isSame(as: current) == false ? failure : nil
    }

    /// Whether each file of the outputs holds the current secret, and each target was given it.
    private var isCurrentEverywhere: Bool {
        isEachOutputRead && !published.isEmpty && published.allSatisfy { $0.fingerprint == current?.fingerprint }
            && (view != nil || client.targets.allSatisfy { sight(of: $0.target) != .unknown })
    }

    /// The daemon's pending work. Its judgement of the client decides whether that is wrong, and on the remedy.
    func pendingLink(_ name: ChainLink.Name, _ words: String) -> ChainLink {
        guard let view, view.health != .ok else { return ChainLink(name, .unknown, words) }
        let failure = view.reasonReport?.failure
        return ChainLink(
            name, .broken, words, failure?.remedy.map { .reported($0, command: failure?.command) })
    }

    private var places: String {
        let files = Set(client.outputs.map(\.path)).sorted().map { Printable.name($0.description) }
        let targets = client.targets.map(\.target)
        let shown = targets.filter { sight(of: $0) == .shown }.map { "target \($0)" }
        let taken = targets.filter { sight(of: $0) == .taken }.map { "target \($0)" }
        let all = [
            Self.words(files + shown, one: "holds it", several: "hold it"),
            Self.words(taken, one: "has taken it", several: "have taken it"),
        ].compactMap(\.self)
        guard all.isEmpty else { return all.joined(separator: "; ") }
        return client.credential.map { "served to \($0.unit) as the credential \($0.name)" } ?? "there are none"
    }

    private static func words(_ places: [String], one: String, several: String) -> String? {
        guard let first = places.first else { return nil }
        return places.count == 1 ? "\(first) \(one)" : "\(first) and \(places.count - 1) more \(several)"
    }
}
