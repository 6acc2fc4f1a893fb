/// The etcd through which machines share secrets. The core knows that there is one, and nothing of its members.
package struct SecretStore: Hashable, Sendable {
    /// How it is called in messages and in the status document. Another text where the settings lead elsewhere.
    package var place: String
    /// The name under which this machine reports there.
    package var machine: String

    package init(place: String, machine: String) {
        self.place = place
        self.machine = machine
    }
}
