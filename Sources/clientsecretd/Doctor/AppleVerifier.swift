import AppleClientSecret
import Model

/// Asks Apple about published secrets, as often as Apple may be asked.
struct AppleVerifier {
    /// Why Apple cannot be asked.
    private let problem: String?
    private let program: NetworkProgramLauncher?
    private var rateLimit = AppleRateLimit()

    init(_ server: ServerOptions) {
        do throws(CommandFailure) {
            program = try NetworkProgramLauncher(server)
            problem = nil
        } catch {
            program = nil
            problem = error.message
        }
    }

    mutating func ask(about secret: Result<PublishedSecret, CommandFailure>) -> ChainFacts.Verdict {
        guard let program else { return .notAsked(problem ?? "it cannot be asked") }
        switch secret {
        case .success(let secret): return .answered(.asking(about: secret, program, &rateLimit))
        case .failure(let failure): return .notAsked("there is no secret to try: \(failure.message)")
        }
    }
}
