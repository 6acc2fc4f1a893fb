package import AppleClientSecret
import Model

extension Rotation {
    /// Every secret that is current, published or kept, or will be, and those that running jobs need. The bytes of all others may
    /// be forgotten, but for those that a running job is about to report.
    package var fingerprintsInUse: Set<Fingerprint> {
        var used = Set(secretsSeen.map(\.fingerprint))
        for client in clients.all {
            let record = client.record.value
            let kept = [record.current, record.candidate, client.credential]
            used.formUnion(kept.compactMap { $0?.fingerprint })
            used.formUnion(client.deliveries.delivered.values.map(\.fingerprint))
        }
        for job in jobs.all { used.formUnion(job.work.secrets.map(\.fingerprint)) }
        return used
    }

    /// Every secret that is current or waits for Apple's verdict, or was seen in a file, a source or the store.
    var secretsSeen: [SecretInfo] {
        clients.all.compactMap(\.secret.current) + clients.all.compactMap(\.verification?.candidate) + files.allSecrets
            + clients.all.flatMap { $0.source?.secrets ?? [] } + storePolling.allSecrets
    }
}
