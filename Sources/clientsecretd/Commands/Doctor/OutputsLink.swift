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
    var failureOfDelivery: Failure? {
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
    func remedy(of error: String?, else other: Remedy? = nil) -> Remedy? {
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
}
