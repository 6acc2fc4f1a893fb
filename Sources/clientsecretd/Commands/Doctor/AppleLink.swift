import AppleAPI
import Failures
import Model

/// Whether Apple accepts the secret.
extension ChainFacts {
    var appleLink: ChainLink {
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
