import Model

/// The machines of each client, also those whose report is missing. A machine counts until it has had no report for a day, was
/// removed, or has a report without the client.
///
/// The clients' records keep them. After the store has lost all reports, the first few returning or new machines must not pass
/// for the whole fleet.
struct KnownMachines: Sendable {
    private var all: [ClientIdentity: Machines] = [:]

    private struct Machines: Sendable {
        /// By ``MachineNumber``, like all machines here.
        var known: Set<UInt32>
        var reporting = 0
        /// Since when reports are missing, by the reads since the start.
        var missingSince: [UInt32: BootTime] = [:]
    }

    /// The machines that a client is known to have, this one included; none if that is not known.
    func numbers(of identity: ClientIdentity) -> Set<UInt32> { all[identity]?.known ?? [] }

    /// How many machines have reported a client, and have no report now. Machines without one for a day do not count.
    func missing(_ identity: ClientIdentity) -> Int { all[identity].map { $0.known.count - $0.reporting } ?? 0 }

    /// Adopts from a client's record the machines known before the start.
    mutating func recall(_ machines: Set<UInt32>, _ identity: ClientIdentity) {
        if !machines.isEmpty, all[identity] == nil { all[identity] = Machines(known: machines) }
    }

    /// Records which machines report a client.
    ///
    /// - Parameter hasLeft: whether a machine reports, and no longer names the client: then it is not missing.
    mutating func see(
        _ reporting: Set<UInt32>, of identity: ClientIdentity, at now: Now, hasLeft: (UInt32) -> Bool
    ) {
        var machines = all[identity] ?? Machines(known: reporting)
        var missing: [UInt32: BootTime] = [:]
        for machine in machines.known where !reporting.contains(machine) && !hasLeft(machine) {
            let since = machines.missingSince[machine] ?? now.boot
            if now.boot < since + MachineReport.silence { missing[machine] = since }
        }
        if reporting.count + missing.count > MachineReport.mostMachines { missing = [:] }
        let known = reporting.union(missing.keys)
        // The same value is compared at once with the record.
        if machines.known != known { machines.known = known }
        machines.reporting = reporting.count
        machines.missingSince = missing
        all[identity] = machines
    }

    /// Records that the report of a machine is removed.
    mutating func remove(_ machine: UInt32) {
        for identity in all.keys { all[identity]?.known.remove(machine) }
    }
}
