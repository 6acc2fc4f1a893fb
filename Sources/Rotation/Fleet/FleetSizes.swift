import Model

/// How many machines each client has, also those whose report is gone: a machine counts until it has had no report for a
/// day, was removed, or has a report without the client.
///
/// The clients' records keep the number: after the store has lost all reports, the first few that return must not pass for
/// the whole fleet.
struct FleetSizes: Sendable {
    private var sizes: [ClientIdentity: Size] = [:]

    /// How many machines report a client, or did until their reports were gone.
    private struct Size: Hashable, Sendable {
        var count: Int
        var reporting: Int
        /// Since when reports are missing.
        var missingSince: BootTime?
    }

    /// How many machines a client is known to have, this one included; 0 where that is not known.
    func count(of identity: ClientIdentity) -> Int { sizes[identity]?.count ?? 0 }

    /// How many machines have reported a client, and have no report now; those that have none for a day are gone.
    func missing(_ identity: ClientIdentity) -> Int { sizes[identity].map { $0.count - $0.reporting } ?? 0 }

    /// Takes from a client's record how many machines there were before the start.
    mutating func recall(_ size: Int, _ identity: ClientIdentity) {
        if size > 0, sizes[identity] == nil { sizes[identity] = Size(count: size, reporting: 0) }
    }

    /// Notes how many machines report a client.
    ///
    /// - Parameter left: how many have reported it before, and no longer name it in their report: they are not missing.
    mutating func measure(_ identity: ClientIdentity, reporting: Int, left: Int, at now: Now) {
        var known = sizes[identity]
        known?.count -= left
        let since = known?.missingSince ?? now.boot
        if let known, reporting < known.count, now.boot < since + HostReport.silence {
            sizes[identity] = Size(count: known.count, reporting: reporting, missingSince: since)
        } else {
            sizes[identity] = Size(count: reporting, reporting: reporting)
        }
    }

    /// Notes that the report of a machine with this client is removed.
    mutating func removeOne(of identity: ClientIdentity) { sizes[identity]?.count -= 1 }
}
