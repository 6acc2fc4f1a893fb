import AppleClientSecret
import Failures
import Model
import StatusAPI

/// Whether a client without a private key has a source that offers it a secret. As long as its current secret is valid, a source
/// without a newer one is a warning.
extension ChainFacts {
    /// Nil for a client that mints its own.
    var sourceLink: ChainLink? {
        guard let source = client.source else { return nil }
        let isServed = current.map { now < $0.expiresAt } == true
        if let report = view?.reasonReport?.failure, Self.isOfSource(report.code) {
            guard isServed else { return ChainLink(.source, broken: report) }
            return ChainLink(
                .source, .warning, [report.message, report.remedy].compactMap(\.self).joined(separator: "; "))
        }
        if let failure = problems.first(where: { Self.isOfSource($0.code.rawValue) }) ?? failureOfSource {
            return isServed ? ChainLink(.source, .warning, failure.sentence, failure.remedy) : link(.source, failure)
        }
        let place = source.path.map { Printable.name($0.description) } ?? "the store"
        guard view?.source != nil || !source.isStore else {
            return ChainLink(.source, .unknown, "only the daemon knows what the store holds")
        }
        return ChainLink(.source, .ok, "\(place) holds a secret that can be received")
    }

    private static func isOfSource(_ code: String) -> Bool { code.hasPrefix("source_") || code.hasPrefix("store_") }

    /// The failure that the daemon has found there, or without a daemon the one that it would find.
    private var failureOfSource: Failure? {
        guard let found = view?.source, let source = client.source else { return sourceFailure }
        let code: Failure.Code? =
            switch found.state {
            case .current: nil
            case .stale: .sourceStale
            case .wrong: .sourceWrong
            case .missing: .sourceMissing
            case .unreachable: source.isStore ? .storeUnreachable : .sourceUnreadable
            }
        return code.map { Failure($0, at: source.path.map { .path($0) } ?? .store, detail: "since \(found.since)") }
    }
}
