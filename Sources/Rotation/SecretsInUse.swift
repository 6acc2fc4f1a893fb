package import AppleClientSecret

extension Rotation {
    /// Every secret that is in force, published or kept, or is to be: the bytes of all others may be forgotten while no job
    /// runs (``isIdle``). What jobs carry is not counted.
    package var fingerprintsInUse: Set<Fingerprint> {
        var used = Set(renewal.allCurrent.map(\.fingerprint))
        used.formUnion(verification.allCandidates.map(\.fingerprint))
        used.formUnion(records.allKept.flatMap { [$0.current, $0.candidate].compactMap { $0?.fingerprint } })
        used.formUnion(delivery.allDelivered.map(\.fingerprint))
        used.formUnion(credentials.allSecrets.map(\.fingerprint))
        used.formUnion(destinations.allSecrets.map(\.fingerprint))
        used.formUnion(sources.allSecrets.map(\.fingerprint))
        used.formUnion(storeReading.allSecrets.map(\.fingerprint))
        return used
    }
}
