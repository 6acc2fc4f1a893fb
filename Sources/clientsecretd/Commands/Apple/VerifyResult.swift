import AppleAPI
import AppleClientSecret
import Failures
import Model

/// The result of trying one published secret.
enum VerifyResult {
    /// There was none to try. Without a name it is from a file that a flag names.
    case noSecret(of: ClientName?, why: String)
    /// - isStray: whether a first answer refused it, and this one did not.
    case verdict(Verdict, on: PublishedSecret, isStray: Bool, advice: [RefusalAdvice])

    /// - Parameter verdict: the last one.
    init(_ secret: PublishedSecret, _ verdict: Verdict, isStray: Bool = false) {
        let advice =
            verdict.outcome == .refused
            ? RefusalAdvice.all(for: secret.evidence(serverTime: verdict.serverTime)) : []
        self = .verdict(verdict, on: secret, isStray: isStray, advice: advice)
    }

    var outcome: Verdict.Outcome {
        if case .verdict(let verdict, _, _, _) = self { verdict.outcome } else { .unknown }
    }

    /// The remedy of a refusal.
    var advice: [RefusalAdvice] {
        if case .verdict(_, _, _, let advice) = self { advice } else { [] }
    }

    /// Accepted, refused, not known; of several the one that matters most.
    static func exitCode(of results: [VerifyResult]) -> CommandExitStatus {
        let outcomes = results.map(\.outcome)
        if outcomes.contains(.refused) { return .failed }
        return outcomes.contains(.unknown) ? .notKnown : .done
    }

    /// A line with the verdict, then the remedy, indented.
    var lines: [String] {
        switch self {
        case .noSecret(let name, let why):
            return ["\(name?.description ?? ""): not known: there is no secret to verify: \(Printable.line(why))"]
        case .verdict(let verdict, let secret, let isStray, let advice):
            let rules = secret.clientID.kind.rules.verification
            let refusal = rules.refusal
            switch verdict.outcome {
            case .accepted:
                let stray = "  the first answer was \(refusal), which Apple sometimes sends by mistake under load"
                return [secret.heading("accepted")] + (isStray ? [stray] : [])
            case .refused:
                let description = verdict.detail.map { ": \(Printable.foreign($0))" } ?? ""
                let heading = advice.contains { $0.isCertain } ? "" : "; Apple does not say why. It may be:"
                return [
                    secret.heading("refused") + ": Apple answered \(refusal), twice\(description)\(heading)"
                ] + advice.map { "  - \($0.words)" }
            case .unknown:
                let words = verdict.why(by: rules, Printable.foreign) ?? ""
                let again = "; the first answer was \(refusal), so try again"
                return ["\(secret.heading("not known")): \(words)\(isStray ? again : "")"]
            }
        }
    }

    var json: JSONText {
        switch self {
        case .noSecret(let name, let why): json(name, nil, reason: "no_secret", detail: why)
        case .verdict(let verdict, let secret, _, _):
            json(
                secret.name, secret, code: verdict.code, reason: verdict.reason,
                detail: verdict.transportFailure?.words(Printable.foreign) ?? verdict.detail)
        }
    }

    private func json(
        _ name: ClientName?, _ secret: PublishedSecret?, code: String? = nil, reason: String?, detail: String?
    ) -> JSONText {
        let advice = advice.map { one in
            JSONText.object([
                ("cause", .string(one.cause.rawValue)), ("certain", .bool(one.isCertain)),
                ("words", .string(one.words)),
            ])
        }
        return .object([
            ("client", .text(name?.description)), ("client_id", .text(secret?.clientID.identifier)),
            ("kind", .text(secret?.clientID.kind.rawValue)),
            ("fingerprint", .text(secret?.token.fingerprint.description)), ("place", .text(secret?.place)),
            ("verdict", .string(outcome.rawValue)), ("code", .text(code)), ("reason", .text(reason)),
            ("detail", .text(detail)), ("advice", .array(advice)),
        ])
    }
}

extension PublishedSecret {
    /// The beginning of a line: the client, the result, and the secret.
    fileprivate func heading(_ outcome: String) -> String {
        let subject = name?.description ?? clientID.identifier ?? clientID.kind.rawValue
        return "\(subject): \(outcome) (\(token.fingerprint), \(Printable.line(place)))"
    }
}

// MARK: Asking

extension VerifyResult {
    /// Tries a secret, and a second time if it is refused: single answers `invalid_client` are strays now and then.
    static func asking(
        about secret: PublishedSecret, _ program: NetworkProgramLauncher, _ rateLimit: inout RateLimit
    ) -> VerifyResult {
        guard secret.clientID.canBeTried else { return VerifyResult(secret, .cannotBeTried) }
        let request = VerificationRequest(clientID: secret.clientID, secret: secret.token)
        var isStray = false
        do throws(CommandFailure) {
            rateLimit.waitToAskApple()
            let first = try program.verify(request)
            guard first.outcome == .refused else { return VerifyResult(secret, first) }
            isStray = true
            rateLimit.waitToAskApple()
            let second = try program.verify(request)
            return VerifyResult(secret, second, isStray: second.outcome != .refused)
        } catch {
            // Nothing is known of this secret; results for others are still printed.
            return VerifyResult(
                secret, Verdict(.failure(TransportFailure(.failed, error.message))), isStray: isStray)
        }
    }
}
