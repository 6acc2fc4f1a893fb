import AppleClientSecret
import Model
import SignIn

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

    mutating func ask(about name: ClientName, in settings: PublishedSettings) -> ChainFacts.Verdict {
        guard let program else { return .notAsked(obstacle ?? "it cannot be asked") }
        do throws(CommandFailure) {
            let secret = try PublishedSecret.first(of: name, in: settings.loaded, from: settings.source)
            return .answered(.asking(about: secret, program, &pace))
        } catch {
            return .notAsked("there is no secret to try: \(error.message)")
        }
    }
}
