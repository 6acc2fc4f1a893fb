import AppleClientSecret
import Daemon
import Keys
import Linux

/// A process that reads a client's secret, or seems to.
struct ReaderProcess: Hashable, Sendable {
    let id: Int32
    /// The first bytes of its program's name, which it can choose.
    let command: String
    /// The service to which it belongs; nil for another process that holds a secret of the client.
    let unit: String?
    /// The user that it runs as; nil when it has ended.
    let owner: UInt32?
    /// The groups that it is in; none when it has ended.
    var groups: Set<UInt32> = []
    /// Nil when it has ended.
    let startedAt: WallTime?
    let secrets: [HeldSecret]
    /// The outputs' variables that it was started with and that hold no client secret; nil if its environment is not known.
    var otherVariables: Set<String>?
    /// Whether this user may not look into it, so that it may hold other secrets than these.
    var isForbidden = false

    /// The processes of these services, and those of the outputs' readers whose variables hold a client secret that one of these
    /// keys signed. Without the signature, any user could start a process with an invented token. Sorted by their numbers, so that
    /// the main process of a service comes first. For root; others see little.
    ///
    /// - Parameters:
    ///   - variables: those that outputs set.
    ///   - readers: the users and groups that may read one of the outputs.
    static func all(
        of units: Set<String>, variables: Set<String>, readers: OutputReaders, signedBy keys: [PublicKey]
    ) -> [ReaderProcess] {
        let look = ProcessLook()
        let all = RunningProcess.all(look).prefix { _ in look.goesOn }.map { (process: $0, unit: $0.unit) }
            .filter { $0.unit?.hasPrefix("clientsecretd") != true }
        let ofUnits = all.compactMap { process, unit -> ReaderProcess? in
            guard let unit, units.contains(unit), look.goesOn else { return nil }
            var reader = ReaderProcess(
                process, unit, process.secrets, process.variablesWithoutSecret(among: variables))
            reader.isForbidden = process.isForbidden
            return reader
        }
        // Last, because any user can start as many as these.
        let others = all.compactMap { process, unit -> ReaderProcess? in
            guard unit.map(units.contains) != true, look.goesOn,
                readers.include(user: process.owner, groups: process.groups ?? [])
            else { return nil }
            let secrets = process.secretsInEnvironment { $0.isSigned(by: keys) }
            return secrets.isEmpty ? nil : ReaderProcess(process, unit, secrets)
        }
        return (ofUnits + others).sorted { $0.id < $1.id }
    }
}

extension ReaderProcess {
    private init(
        _ process: RunningProcess, _ unit: String?, _ secrets: [HeldSecret], _ otherVariables: Set<String>? = nil
    ) {
        // One that has ended since its user was read seems to be in no group.
        let groups = process.groups
        self.init(
            id: process.id, command: process.command ?? "?", unit: unit, owner: groups == nil ? nil : process.owner,
            groups: groups ?? [], startedAt: process.startedAt, secrets: secrets, otherVariables: otherVariables)
    }
}
