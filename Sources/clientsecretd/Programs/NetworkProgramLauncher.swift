import AppleAPI
import AppleClientSecret
import Daemon
import Failures
import Linux

/// The program `clientsecretd-network`, which asks Apple: this one has no network. It runs as a child with the rights of the user
/// that types the command, never through the service.
struct NetworkProgramLauncher {
    static let name = NetworkProgramFile.name

    private let path: String
    private let server: [String]

    /// Throws when it is not installed.
    init(_ options: ServerOptions) throws(CommandFailure) {
        guard OwnProgram.path() != nil else {
            throw CommandFailure(.failed, "\(Self.name) cannot be found without /proc")
        }
        guard let path = NetworkProgramFile.path() else {
            throw CommandFailure(
                .failed,
                "\(Self.name), the program that connects to Apple, is not installed; its package is next to "
                    + "that of clientsecretd; in that directory, run: apt-get install ./\(Self.name)_*.deb")
        }
        self.path = path
        server = try options.arguments()
    }

    /// Apple's verdict on a client secret.
    func verify(_ request: VerificationRequest) throws(CommandFailure) -> Verdict {
        try answer(of: "verify", request.bytes)
    }

    /// Posts a form to the token endpoint, or to the one for revocations.
    func post(
        _ fields: [FormEncoding.Field], to path: Endpoint.Path
    ) throws(CommandFailure) -> Result<HTTPAnswer, TransportFailure> {
        let request = JSONText.object(fields.map { ($0.name, .string($0.value)) })
        let answer: RequestResult = try answer(of: path == .revoke ? "revoke" : "token", request.bytes)
        return answer.result
    }

    /// The text of the key set.
    func keys() throws(CommandFailure) -> Result<HTTPAnswer, TransportFailure> {
        let answer: RequestResult = try answer(of: "keys", [])
        return answer.result
    }

    /// Runs a role on one request; its messages go to standard error unchanged.
    private func answer<Answer: JSONDocument>(
        of role: String, _ request: [UInt8]
    ) throws(CommandFailure) -> Answer {
        // The environment goes along: it says which proxy to use.
        let (ending, bytes) = try PipedProgram.run([path, role] + server, input: request)
        guard ending == .exited(0), let answer = bytes.flatMap({ try? Answer(parsing: $0) }) else {
            throw CommandFailure(.failed, "\(Self.name) gave no answer; see its message above")
        }
        return answer
    }
}
