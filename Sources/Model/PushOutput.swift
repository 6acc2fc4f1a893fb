/// A place behind an API where a client's secret is put: one of the configuration's targets, which takes one secret.
package struct PushOutput: Hashable, Sendable {
    package var target: TargetName
    /// Tells places apart: another text where the target's settings lead elsewhere. Nothing else is to be read from it.
    package var place: String

    package init(target: TargetName, place: String) {
        self.target = target
        self.place = place
    }
}
