import AppleAPI
import AppleClientSecret
import Failures
import Model

extension Failure {
    /// Why a secret is not published after this verdict; nil if Apple accepts it.
    init?(_ verdict: Verdict, on request: VerificationRequest, of client: ClientName) {
        switch verdict.outcome {
        case .accepted: return nil
        case .refused:
            self.init(
                .refusedByApple, at: .client(client),
                detail: Redaction.foreign(verdict.code ?? request.rules.refusal))
        case .unknown:
            self.init(
                .verdictUnknown, at: .client(client),
                detail: verdict.why(by: request.rules, Redaction.foreign),
                remedy: Self.remedy(for: verdict, on: request, of: client))
        }
    }

    /// Nil for the one that the failure has by itself.
    private static func remedy(for verdict: Verdict, on request: VerificationRequest, of client: ClientName) -> Remedy?
    {
        // With a status it was reached, so the connection is not the problem.
        guard verdict.status == nil else {
            return .say(
                "the answer says nothing about the secret; check whether there is a proxy between this machine and Apple, and try again",
                see: .verify(client.description))
        }
        guard request.rules.server != Claims.audience else { return nil }
        return .say(
            "see whether this machine reaches Apple", see: .reach(request.rules.server + request.rules.path))
    }
}
