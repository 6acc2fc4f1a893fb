import Failures

extension RoleFailure {
    /// The same for failures of the network.
    init(_ failure: TransportFailure) {
        self.init(failure.kind.codes.store, failure.report.isEmpty ? nil : failure.report)
    }
}
