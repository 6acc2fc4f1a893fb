import Linux
import Rotation
import SystemPackage

/// Says what became of requests for credentials: who is refused again and again is told of once an hour.
struct CredentialJournal {
    let log: Log
    private var told: [CredentialRefusal: Int64] = [:]
    private var toldOfFailure: Int64?

    private static let reminder: Int64 = 3_600_000
    /// Refusals that are kept apart; above it whoever thinks up names could fill a log and the memory with them.
    private static let mostTold = 256

    init(log: Log) {
        self.log = log
    }

    mutating func served(_ credential: ServedCredential, _ client: ClientName, _ issued: SecretInfo) {
        // When it is refused again, that is news again.
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

    /// Accepting failed.
    mutating func failed(_ error: SystemError, at now: Int64) {
        if let toldOfFailure, now < toldOfFailure + Self.reminder { return }
        toldOfFailure = now
        let isOut = [.tooManyOpenFiles, .tooManyOpenFilesInSystem].contains(error.errno)
        let failure = Failure(
            isOut ? .outOfDescriptors : .systemError, at: .named("credential socket"), cause: error.errno.rawValue)
        log.fail(failure.sentence)
    }
}
