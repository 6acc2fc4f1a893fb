internal import Failures
package import Linux
package import Model

/// Runs actions, each kind by the rules at the head of its file: ``ExecAction``, ``UnitAction``.
package struct ActionRunner: Sendable {
    private let exec: ExecAction
    private let unit: UnitAction
    private let identity: Identity

    /// - Parameters:
    ///   - identity: the user whose programs may be run.
    ///   - cancel: signalled at shutdown. A program that has not ended then counts as interrupted.
    ///   - redact: removes secrets from lines that a program printed.
    ///   - output: receives each line that a program printed, already free of secrets.
    package init(
        as identity: Identity, cancel: EventCounter,
        redact: @escaping LoggedHookOutput.LineFilter,
        output: @escaping @Sendable (ActionID, String) -> Void
    ) {
        exec = ExecAction(identity: identity, cancel: cancel, redact: redact, output: output)
        unit = UnitAction(cancel: cancel)
        self.identity = identity
    }

    /// Runs an action for these clients; throws why it failed. Blocks.
    package func run(_ action: Action, _ covering: [ClientName: CoveredClient]) throws(Failure) {
        switch action {
        case .exec(let arguments, let timeout):
            try exec.run(arguments, timeout: timeout, covering, of: action)
        case .unit, .signal: try unit.run(action)
        // The executor has the push service do this (`Executor.redeploy`). To end without an error here would count as
        // done, and a secret as delivered.
        case .redeploy:
            throw Failure(
                .actionNotStarted, at: .action(action.id), detail: "only the push service can do this")
        }
    }

    /// Why an action could not run, without running it; nil when it could. Blocks.
    package func problem(with action: Action) -> Failure? {
        if let failure = ExecAction.problem(with: action, as: identity) { return failure }
        let found = unit.problems(with: [action], as: identity.user)[action]
        // An interrupted probe says nothing about the action.
        return found?.code == .actionInterrupted ? nil : found
    }
}
