import AppleClientSecret
import Failures
import Model
import SignIn

/// What came of trying one published secret.
struct VerifyResult {
    /// Nil for a secret from a file that a flag names.
    let name: ClientName?
    /// Nil where there was no secret to try.
    let secret: PublishedSecret?
    /// Nil where there was no secret to try.
    let verdict: Verdict?
    /// Whether a first answer refused it, and a second one did not.
    let isStray: Bool
    /// Why there was no secret to try, or the network program gave no verdict.
    let problem: String?
    let advice: [RefusalAdvice]

    init(_ secret: PublishedSecret, _ verdict: Verdict, isStray: Bool, problem: String? = nil) {
        name = secret.name
        self.secret = secret
        self.verdict = verdict
        self.isStray = isStray
        self.problem = problem
        advice =
            verdict.outcome == .refused
            ? RefusalAdvice.all(for: secret.evidence(serverTime: verdict.serverTime)) : []
    }

    init(name: ClientName?, problem: String) {
        self.name = name
        secret = nil
        verdict = nil
        isStray = false
        self.problem = problem
        advice = []
    }

    var outcome: Verdict.Outcome { verdict?.outcome ?? .unknown }

    /// 0 accepted, 1 refused, 3 not known; of several the one that matters most.
    static func exitCode(of results: [VerifyResult]) -> Int32 {
        let outcomes = results.map(\.outcome)
        if outcomes.contains(.refused) { return 1 }
        return outcomes.contains(.unknown) ? 3 : 0
    }

    /// A line with the verdict, then indented what helps.
    var lines: [String] {
        let subject = name?.description ?? secret.map { $0.clientID.identifier ?? $0.clientID.kind.rawValue } ?? ""
        guard let secret, let verdict else {
            return ["\(subject): not known: there is no secret to verify: \(Printable.line(problem ?? ""))"]
        }
        let which = "\(subject): "
        let print = " (\(secret.token.fingerprint), \(Printable.line(secret.place)))"
        switch verdict.outcome {
        case .accepted:
            let stray =
                isStray
                ? [
                    "  the first answer was \(secret.clientID.kind.rules.trial.refusal), which Apple sometimes sends by mistake under load"
                ] : []
            return [which + "accepted" + print] + stray
        case .refused:
            let description = verdict.detail.map { ": \(Printable.foreign($0))" } ?? ""
            let heading = advice.contains { $0.isCertain } ? "" : "; Apple does not say why. It may be:"
            return [
                which + "refused" + print
                    + ": Apple answered \(secret.clientID.kind.rules.trial.refusal), twice\(description)\(heading)"
            ]
                + advice.map { "  - \($0.words)" }
        case .unknown:
            let words = why ?? verdict.detail.map(Printable.foreign) ?? "the reason is not known"
            let stray =
                isStray ? "; the first answer was \(secret.clientID.kind.rules.trial.refusal), so try again" : ""
            let remedy = NetworkProgramLauncher.proxyRemedy(for: verdict.reason.flatMap(TransportFailure.Kind.init))
            return [which + "not known" + print + ": \(words)\(remedy)\(stray)"]
        }
    }

    /// Why there is no answer of Apple's, in our words.
    private var why: String? { problem ?? verdict?.transportFailure?.words(Printable.foreign) }

    var json: JSONText {
        .object([
            ("client", .text(name?.description)),
            ("client_id", .text(secret?.clientID.identifier)),
            ("kind", .text(secret?.clientID.kind.rawValue)),
            ("fingerprint", .text(secret?.token.fingerprint.description)),
            ("place", .text(secret?.place)),
            ("verdict", .string(outcome.rawValue)),
            ("code", .text(verdict?.code)),
            ("reason", .text(verdict == nil ? "no_secret" : verdict?.reason)),
            ("detail", .text(why ?? verdict?.detail)),
            (
                "advice",
                .array(
                    advice.map { one in
                        .object([
                            ("cause", .string(one.cause.rawValue)), ("certain", .bool(one.isCertain)),
                            ("words", .string(one.words)),
                        ])
                    })
            ),
        ])
    }
}

// MARK: Asking

extension VerifyResult {
    /// Tries a secret, and a second time if it is refused: single answers `invalid_client` are strays now and then.
    static func asking(
        about secret: PublishedSecret, _ program: NetworkProgramLauncher, _ rateLimit: inout RateLimit
    ) -> VerifyResult {
        guard secret.clientID.canBeTried else { return VerifyResult(secret, .cannotBeTried, isStray: false) }
        let trial = SecretTrial(clientID: secret.clientID, secret: secret.token)
        var isStray = false
        do throws(CommandFailure) {
            rateLimit.waitToAskApple()
            let first = try program.verify(trial)
            guard first.outcome == .refused else { return VerifyResult(secret, first, isStray: false) }
            isStray = true
            rateLimit.waitToAskApple()
            let second = try program.verify(trial)
            return VerifyResult(secret, second, isStray: second.outcome != .refused)
        } catch {
            // Nothing is known of this secret; what is known of others is still printed.
            let none = Verdict(.failure(TransportFailure(.failed, "")))
            return VerifyResult(secret, none, isStray: isStray, problem: error.message)
        }
    }
}
