import Failures
import Linux
import Model
import Rotation

/// Logs the outcome of credential requests; a refusal that repeats is logged once an hour.
struct CredentialRequestLog {
    let log: Log
    /// Until when each is not logged again.
    private var silentUntil: [CredentialProblem: Deadline] = [:]
    private var failuresSilentUntil: Deadline?

    init(log: Log) {
        self.log = log
    }

    mutating func served(_ credential: ServedCredential, _ client: ClientName, _ issued: SecretInfo) {
        // If it is refused again later, that is logged at once.
        silentUntil[.noSecret(credential, client)] = nil
        silentUntil[.notConfigured(credential)] = nil
        log.note(.served(credential, client, issued))
    }

    mutating func refused(_ problem: CredentialProblem) {
        silentUntil = silentUntil.filter { !$0.value.hasPassed }
        guard silentUntil[problem] == nil, silentUntil.count < CredentialLimits.mostLogged else { return }
        silentUntil[problem] = Deadline(in: CredentialLimits.logInterval)
        log.note(.notServed(problem))
    }

    /// Logs a failed accept, hourly at most.
    mutating func failed(_ error: SystemError) {
        guard failuresSilentUntil?.hasPassed != false else { return }
        failuresSilentUntil = Deadline(in: CredentialLimits.logInterval)
        let code = ProcessLimit(reached: error.number)?.code ?? .systemError
        let failure = Failure(code, at: .named("credential socket"), cause: error.number)
        log.note(.acceptFailed(failure))
    }
}
