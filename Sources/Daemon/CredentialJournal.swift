import Failures
import Linux
import Rotation
import SystemPackage

/// Logs the outcome of credential requests; a refusal that repeats is logged once an hour.
struct CredentialJournal {
    let log: Log
    private var told: [CredentialRefusal: Int64] = [:]
    private var toldOfFailure: Int64?

    private static let reminder: Int64 = 3_600_000
    /// Refusals that are remembered; without a limit, requests for invented names could fill the log and the memory.
    private static let mostTold = 256

    init(log: Log) {
        self.log = log
    }

    mutating func served(_ credential: ServedCredential, _ client: ClientName, _ issued: SecretInfo) {
        // If it is refused again later, that is logged at once.
        told[.noSecret(credential, client)] = nil
        told[.notConfigured(credential)] = nil
        log.note(.served(credential, client, issued))
    }

    mutating func refused(_ refusal: CredentialRefusal, at now: Int64) {
        told = told.filter { now < $0.value + Self.reminder }
        guard told[refusal] == nil, told.count < Self.mostTold else { return }
        told[refusal] = now
        log.note(.notServed(refusal))
    }

    /// Logs a failed accept, hourly at most.
    mutating func failed(_ error: SystemError, at now: Int64) {
        if let toldOfFailure, now < toldOfFailure + Self.reminder { return }
        toldOfFailure = now
        let isOut = [.tooManyOpenFiles, .tooManyOpenFilesInSystem].contains(error.errno)
        let failure = Failure(
            isOut ? .outOfDescriptors : .systemError, at: .named("credential socket"), cause: error.errno.rawValue)
        log.fail(failure.sentence)
    }
}
