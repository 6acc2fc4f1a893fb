package import AppleClientSecret
package import Model

// How far a rollout is: part of the answer to `GET /v1/fleet`, and the answer to a `POST` that has it do something.

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
