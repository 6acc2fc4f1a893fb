/// A client for which an action runs, and the data about it that the action gets.
package struct CoveredClient: Hashable, Sendable {
    package let issued: SecretInfo
    /// In the configuration's order.
    package let outputs: [AbsolutePath]

    package init(issued: SecretInfo, outputs: [AbsolutePath]) {
        self.issued = issued
        self.outputs = outputs
    }
}
