import AppleClientSecret
internal import Failures
package import Rotation

extension StatusDocument {
    /// The document for `snapshot`, from a daemon of `version`.
    package init(_ snapshot: Snapshot, version: String) {
        self.version = version
        state = snapshot.health.rawValue
        reason = snapshot.reason?.sentence
        failure = snapshot.reason.map(Failure.init)
        startedAt = snapshot.startedAt
        config = Config(
            path: snapshot.configuration.path, loadedAt: snapshot.configuration.loadedAt,
            error: snapshot.configuration.error)
        clients = snapshot.clients.map(Client.init)
    }
}

extension StatusDocument.Failure {
    init(_ reason: Reason) {
        let remedy = reason.failure.remedy
        self.init(
            code: reason.failure.code.rawValue, message: reason.message, since: reason.since,
            nextAttempt: reason.nextAttempt, remedy: remedy?.description, command: remedy?.command)
    }
}

extension StatusDocument.Client {
    init(_ view: ClientView) {
        self.init(
            name: view.name.description, clientID: view.clientID.description, teamID: view.team.description,
            keyID: view.keyID.description, state: view.health.rawValue, reason: view.reason?.sentence,
            failure: view.reason.map(StatusDocument.Failure.init),
            issuedAt: view.current?.issuedAt, expiresAt: view.current?.expiresAt,
            deliveredExpiresAt: view.deliveredExpiresAt, renewAt: view.renewAt,
            fingerprint: view.current?.fingerprint.description, renewals: view.renewals,
            consecutiveFailures: view.consecutiveFailures, lastError: view.lastError, delivered: view.delivered,
            outputs: view.outputs.map(StatusDocument.Output.init), actions: view.actions.map(StatusDocument.Action.init)
        )
    }
}

extension StatusDocument.Output {
    init(_ view: OutputView) {
        self.init(
            path: view.path.description, format: view.format.name, state: view.state.rawValue,
            writtenAt: view.writtenAt,
            error: view.error)
    }
}

extension StatusDocument.Action {
    init(_ view: ActionView) {
        self.init(
            action: view.action.description, state: view.state.rawValue, ranAt: view.ranAt, error: view.error)
    }
}
