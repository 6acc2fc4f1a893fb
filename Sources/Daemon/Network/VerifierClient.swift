import AppleAPI
import AppleClientSecret
import Failures
import Linux
import Model
import Outputs

/// The daemon's client of the service that asks Apple whether it accepts a secret.
struct VerifierClient: Sendable {
    private let socket: NetworkServiceClient.Socket
    private let service: NetworkServiceClient
    /// The program that asks if no service listens; nil to need a service.
    private let program: String?

    /// - Parameters:
    ///   - status: the daemon's status socket; the service's is next to it.
    ///   - program: started with the rights of this process if no service listens, so that `run --once` needs no socket; nil to
    ///     need a service.
    ///   - identity: the daemon's user.
    ///   - cancel: ends every request when raised.
    ///   - timeout: in milliseconds.
    init(
        besideSocket status: String, program: String? = nil, identity: Identity, cancel: EventCounter?,
        timeout: Int64 = ServiceTimeouts.verdict
    ) {
        self.program = program
        socket = NetworkServiceClient.Socket("verify", besideSocket: status)
        service = NetworkServiceClient(
            missing: .verifierMissing, silent: .verifierSilent, identity: identity, cancel: cancel, timeout: timeout)
    }

    /// Returns when Apple accepts the secret. Blocks.
    func verify(_ secret: Secret, of client: ClientName) throws(Failure) {
        let request = VerificationRequest(clientID: secret.issued.client, secret: secret.token)
        let verdict: Verdict = try service.ask(
            request.bytes, at: socket, orOf: program.map { [$0, "verify"] }, for: .client(client),
            otherwise: "its answer is not a verdict", read: { try? Verdict(parsing: $0) })
        if let failure = Failure(verdict, on: request, of: client) { throw failure }
    }

    /// Why Apple cannot be asked about a client, because there is no socket; nil if there is one.
    func problem(for client: ClientName) -> Failure? { service.problem(at: socket, for: .client(client)) }
}
