package import AppleClientSecret
internal import Failures
package import Model

extension SecretStore {
    /// How long before its end this machine's certificate is a reason to look: many authorities take days to issue another.
    package static let certificateNotice = Seconds(14 * 86_400)
}

/// When this machine's certificate for the store is a reason for a client not to be ok.
extension Rotation {
    /// Why this machine's certificate for the store is a reason not to be ok: without it the store cannot be reached.
    func certificateReason(of client: ConfiguredClient, _ timer: inout WakeTimer) -> Reason? {
        guard client.concernsStore, let expiry = storePolling.counts.certificateExpiresAt,
            timer.reached(expiry - SecretStore.certificateNotice)
        else { return nil }
        return Reason(
            failure: Failure(.storeCertificateExpiring, at: .store, detail: expiry.description), client: client.name,
            since: expiry - SecretStore.certificateNotice)
    }
}
