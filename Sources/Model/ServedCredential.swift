/// A secret served to a unit's `LoadCredential=` from the credential socket.
package struct ServedCredential: Hashable, Sendable {
    /// The unit's own name as systemctl shows it, escapes included, never an alias. A template such as `app@.service`
    /// means all of its instances; a credential for an instance's own name takes precedence.
    package var unit: String
    /// The name that `LoadCredential=` gives it.
    package var name: String

    package init(unit: String, name: String) {
        self.unit = unit
        self.name = name
    }
}
