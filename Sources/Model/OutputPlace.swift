/// The place where a client's secret is published: a file, or one variable of an environment file.
package struct OutputPlace: Hashable, Comparable, Sendable {
    package let path: AbsolutePath
    package let slot: FileSlot

    package init(path: AbsolutePath, slot: FileSlot) {
        self.path = path
        self.slot = slot
    }

    package static func < (left: OutputPlace, right: OutputPlace) -> Bool {
        (left.path, left.variable ?? "") < (right.path, right.variable ?? "")
    }

    /// The variable of an environment file; nil if the whole file is the secret.
    package var variable: String? { slot.variable }
}
