package import AppleClientSecret

extension Rotation {
    /// Every secret that is in force, published, kept or under way: the bytes of all others may be forgotten.
    package var fingerprintsInUse: Set<Fingerprint> {
        var used = Set(renewal.allCurrent.map(\.fingerprint))
        used.formUnion(verification.allCandidates.map(\.fingerprint))
        used.formUnion(records.allKept.flatMap { [$0.current, $0.candidate].compactMap { $0?.fingerprint } })
        used.formUnion(delivery.allDelivered.map(\.fingerprint))
        used.formUnion(credentials.allSecrets.map(\.fingerprint))
        used.formUnion(destinations.allSecrets.map(\.fingerprint))
        used.formUnion(sources.allSecrets.map(\.fingerprint))
        used.formUnion(storeReading.allSecrets.map(\.fingerprint))
        for job in jobs.all {
            switch job.work {
            case .publish(_, let secrets, _): used.formUnion(secrets.values.map(\.fingerprint))
            case .keep(_, let record):
                used.formUnion([record.current, record.candidate].compactMap { $0?.fingerprint })
            case .push(_, let secret, _, let others):
                used.formUnion(others.values.map(\.fingerprint))
                used.insert(secret.fingerprint)
            case .verify(_, let secret), .readTarget(_, let secret, _),
                .putInStore(_, let secret, _, _):
                used.insert(secret.fingerprint)
            case .putRollout(_, _, _, _, let put): if let put { used.insert(put.secret.fingerprint) }
            case .readConfiguration, .checkConfiguration, .readKey, .recall, .readSource, .readStore, .putReport,
                .readReports, .forgetReport, .observe, .mint, .run, .probe, .recallReportedStates, .keepReportedStates,
                .tidyRecords:
                break
            }
        }
        return used
    }
}
