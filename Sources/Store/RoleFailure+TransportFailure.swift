import Failures

extension RoleFailure {
    /// The same for what the network could not do.
    init(_ failure: TransportFailure) {
        self.init(failure.kind.codes.store, failure.report.isEmpty ? nil : failure.report)
    }
}
