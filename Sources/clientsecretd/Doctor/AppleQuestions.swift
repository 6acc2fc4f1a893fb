import AppleClientSecret
import Model

/// Asks Apple about published secrets, at the pace at which Apple may be asked.
struct AppleQuestions {
    /// Why Apple cannot be asked.
    private let obstacle: String?
    private let program: NetworkProgramLauncher?
    private var pace = QuestionPace()

    init(_ server: ServerOptions) {
        do throws(CommandFailure) {
            program = try NetworkProgramLauncher(server)
            obstacle = nil
        } catch {
            program = nil
            obstacle = error.message
        }
    }

    mutating func ask(about secret: Result<PublishedSecret, CommandFailure>) -> ChainFacts.Verdict {
        guard let program else { return .notAsked(obstacle ?? "it cannot be asked") }
        switch secret {
        case .success(let secret): return .answered(.asking(about: secret, program, &pace))
        case .failure(let failure): return .notAsked("there is no secret to try: \(failure.message)")
        }
    }
}
