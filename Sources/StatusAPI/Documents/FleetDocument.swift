package import AppleClientSecret
package import Model

// The answer to `GET /v1/fleet`, as `StatusDocument.swift` does it for the status.

extension FleetView: JSONDocument {
    package init(_ view: FleetView?, _ members: inout JSONMembers) throws(JSONError) {
        self.init(clients: try members("clients", view?.clients))
    }
}

extension FleetClientView: JSONDocument {
    package init(_ view: FleetClientView?, _ members: inout JSONMembers) throws(JSONError) {
        let name = try members("name", view?.name)
        let fingerprint = try members.orNull("fingerprint", view?.fingerprint)
        members.derived("hosts", view?.counts.hosts ?? 0)
        let current = try members("current", view?.counts[.current])
        let delivered = try members("delivered", view?.counts.delivered)
        let behind = try members("behind", view?.counts[.behind])
        let failing = try members("failing", view?.counts[.failing])
        let silent = try members("silent", view?.counts[.silent])
        let rollout = try members.orNull("rollout", view?.rollout)
        self.init(
            name: name, fingerprint: fingerprint,
            counts: FleetCounts(
                [.current: current, .behind: behind, .failing: failing, .silent: silent], delivered: delivered),
            rollout: rollout,
            machines: try members("machines", view?.machines))
    }
}

extension FleetMachineView: JSONDocument {
    package init(_ view: FleetMachineView?, _ members: inout JSONMembers) throws(JSONError) {
        let machine = try members("machine", view?.machine)
        let state = try members("state", view?.state)
        let fingerprint = try members.orNull("fingerprint", view?.holding.secret?.fingerprint)
        let since = try members("since", view?.holding.since)
        let delivered = try members("delivered", view?.holding.delivered)
        let failure = try members.orNull("failure", view?.holding.failure)
        self.init(
            machine: machine, state: state,
            holding: MachineReport.Holding(
                secret: fingerprint.map { SecretName($0) }, since: since, delivered: delivered, failure: failure),
            lastSeen: try members("last_seen", view?.lastSeen))
    }
}

extension FleetCounts.State: JSONString {}

// How far a rollout is: also the answer to a `POST` that has it do something.

extension RolloutView: JSONDocument {
    package init(_ view: RolloutView?, _ members: inout JSONMembers) throws(JSONError) {
        // In whole percent, rounded down: a hundred are all.
        let share = try members("share", view.map { $0.percent })
        let state = try members("state", view?.state)
        let since = try members("since", view?.since)
        let missing = try members.orAbsent("missing", view.flatMap { $0.missing > 0 ? $0.missing : nil })
        self.init(share: Double(share) / 100, state: state, since: since, missing: missing ?? 0)
    }
}

extension RolloutView.State: JSONString {}
