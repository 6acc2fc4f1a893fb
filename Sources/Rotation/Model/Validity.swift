import AppleClientSecret

extension Subject {
    /// Whether `issued` was made for the ids that are configured now.
    func names(_ issued: SecretInfo) -> Bool {
        keys.contains { entry.names(issued, key: $0.entry) }
    }
}

extension ClientConfiguration {
    /// How far ahead of now an `iat` may lie before the secret counts as impossible: Apple may refuse such a one.
    static let clockTolerance: Seconds = 60

    /// Whether `issued` may be used for this client: signed by `print` for these ids, not expired, with possible times.
    ///
    /// - Parameter print: the key as it can be read now. Nil while it cannot: then a secret that some key of ours is
    ///   known to have signed is accepted, so that an unreadable key does not cost what is published.
    func accepts(_ issued: SecretInfo, key: KeyConfiguration, print: KeyDigest?, at deadlines: inout Deadlines) -> Bool
    {
        guard names(issued, key: key), let signer = issued.signer, print == nil || signer == print,
            hasCome(issued, &deadlines), !isTooLong(issued, &deadlines)
        else { return false }
        return !deadlines.reached(issued.expiresAt)
    }

    /// Whether `issued` was made in the past, or at most ``clockTolerance`` ahead of the clock.
    func hasCome(_ issued: SecretInfo, _ deadlines: inout Deadlines) -> Bool {
        deadlines.reached(issued.issuedAt - Self.clockTolerance)
    }

    /// Whether `issued` lasts longer than Apple accepts.
    func isTooLong(_ issued: SecretInfo, _ deadlines: inout Deadlines) -> Bool {
        !deadlines.reached(issued.expiresAt - Lifetime.appleLimit)
    }

    /// Whether `issued` was made for the ids that are configured now.
    func names(_ issued: SecretInfo, key: KeyConfiguration) -> Bool {
        issued.client == clientID && issued.team == key.team && issued.keyID == key.keyID
    }

    /// When a secret stops counting: at its own expiry, or sooner if the configured lifetime was shortened since.
    func end(of issued: SecretInfo) -> WallTime {
        min(issued.expiresAt, issued.issuedAt + Claims.backdating + lifetime.seconds)
    }

    /// The best of several usable secrets: the one that lasts longest, of equals the youngest.
    func best(of candidates: [SecretInfo]) -> SecretInfo? {
        candidates.max { left, right in
            (end(of: left), left.issuedAt, left.fingerprint.leadingBytes)
                < (end(of: right), right.issuedAt, right.fingerprint.leadingBytes)
        }
    }
}
