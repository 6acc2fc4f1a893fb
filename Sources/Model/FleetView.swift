package import AppleClientSecret

/// How many machines hold the secret of a client, as they report.
package struct FleetCounts: Hashable, Sendable {
    /// Each machine is in one of these.
    package enum State: String, Hashable, Sendable, CaseIterable {
        /// It holds the signer's current secret, and nothing fails.
        case current
        /// It holds another one, or none.
        case behind
        case failing
        /// It has not reported for more than a day, or a rollout that has admitted it no longer waits for it.
        case silent
    }

    private var machines: [State: Int] = [:]
    /// How many hold it and have delivered it, whatever else fails there. A silent one may have another by now.
    package private(set) var delivered = 0

    package init() {}

    package init(_ machines: [State: Int], delivered: Int) {
        self.machines = machines.filter { $0.value > 0 }
        self.delivered = delivered
    }

    package subscript(_ state: State) -> Int { machines[state, default: 0] }

    /// How many machines report the client.
    package var hosts: Int { machines.values.reduce(0, +) }

    package mutating func count(_ state: State, hasDelivered: Bool) {
        machines[state, default: 0] += 1
        if state != .silent, hasDelivered { delivered += 1 }
    }
}

/// The secrets of the fleet's machines by client, only of clients whose secrets are put into the store from here.
package struct FleetView: Hashable, Sendable {
    /// In the order of their names.
    package var clients: [FleetClientView]

    package init(clients: [FleetClientView]) {
        self.clients = clients
    }
}

/// One client as the machines report it.
package struct FleetClientView: Hashable, Sendable {
    package var name: ClientName
    /// Of the current secret on this machine; nil before the first one.
    package var fingerprint: Fingerprint?
    package var counts: FleetCounts
    /// How far the secret is rolled out; nil if it is not.
    package var rollout: RolloutView?
    /// Those that are not current, or all, the worst first.
    package var machines: [FleetMachineView]

    /// How many machines hold the current secret, whatever else fails there. A silent one may have another by now.
    package var held: Int {
        guard let fingerprint else { return 0 }
        return counts[.current]
            + machines.count { $0.state == .failing && $0.holding.secret?.fingerprint == fingerprint }
    }

    /// Whether all machines that report the client have delivered its secret, but for the silent ones.
    package var haveAllDelivered: Bool { counts.delivered > 0 && counts.delivered == counts.hosts - counts[.silent] }

    package init(
        name: ClientName, fingerprint: Fingerprint?, counts: FleetCounts, rollout: RolloutView? = nil,
        machines: [FleetMachineView]
    ) {
        self.rollout = rollout
        self.name = name
        self.fingerprint = fingerprint
        self.counts = counts
        self.machines = machines
    }
}

/// One client as one machine reports it.
package struct FleetMachineView: Hashable, Sendable {
    package var machine: String
    package var state: FleetCounts.State
    package var holding: MachineReport.Holding
    /// When it last gave a sign of life.
    package var lastSeen: WallTime

    package init(machine: String, state: FleetCounts.State, holding: MachineReport.Holding, lastSeen: WallTime) {
        self.machine = machine
        self.state = state
        self.holding = holding
        self.lastSeen = lastSeen
    }

    /// Failing machines come first, then those behind, then the silent ones; of one state those first that have been as they
    /// are for longest.
    package func isBefore(_ other: FleetMachineView) -> Bool {
        (rank, holding.since, machine) < (other.rank, other.holding.since, other.machine)
    }

    private var rank: Int {
        switch state {
        case .failing: 0
        case .behind: 1
        case .silent: 2
        case .current: 3
        }
    }
}
