package import Model
package import Rotation

/// What a review of a configuration has found.
package struct DryRunFindings: Sendable {
    /// Something that would not work, and for which client.
    package struct Problem: Sendable {
        package let failure: Failure
        /// Nil when it concerns several clients, such as a key that they share.
        package let client: ClientName?
    }

    /// A file that is an argument of an `exec` action, no output, and that other users can change.
    package struct UnguardedArgument: Hashable, Sendable {
        package let action: ActionID
        package let path: String
    }

    package internal(set) var problems: [Problem] = []
    /// Failures with which `run` or `run --once` still serves. For each client with `verify: true`, they show why Apple cannot
    /// be asked about new secrets. They also show targets that only `run --once` reaches while no service listens, a clock that
    /// may be ahead, actions without effect, and credentials whose files other users can change.
    package internal(set) var limitations: [Failure] = []
    /// The reasons why etcd would not let this machine in, by the files that can be read. `run` still serves with them.
    package internal(set) var storeFailures: [Failure] = []
    /// The protections that the units' settings in effect weaken or remove, a line each. `run` still serves with them.
    package internal(set) var warningsOfUnits: [String] = []
    /// By the actions' names. `run` still serves with them.
    package internal(set) var unguardedArguments: [UnguardedArgument] = []
    /// Apple refuses the secrets of at least one of each two. `run` still serves with them.
    package internal(set) var sharedKeys: [SharedKey] = []
    /// The lines missing from the sandboxes of the writing units.
    package internal(set) var dropIns: [UnitDropIn] = []
    /// The units that work now and do not start again, or not after a reboot.
    package internal(set) var idleUnits: [IdleUnit] = []
    /// The state directory, if it is missing and systemd creates it when the service starts.
    package internal(set) var stateDirectoryMadeAtStart: AbsolutePath?
}
