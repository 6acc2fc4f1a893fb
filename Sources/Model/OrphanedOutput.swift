package import AppleClientSecret
package import Failures

extension ClientConfiguration {
    package var places: Set<OutputPlace> {
        Set(outputs.map { OutputPlace(path: $0.path, slot: $0.slot) })
    }
}

extension Configuration {
    /// The places where secrets are published.
    package var places: Set<OutputPlace> {
        clients.values.reduce(into: []) { $0.formUnion($1.places) }
    }
}

/// A former output that still holds a secret. It is reported once and left for an operator to remove: an application
/// that was not reconfigured yet may still read it.
package struct OrphanedOutput: Hashable, Sendable {
    package let place: OutputPlace
    /// When the secret expires; nil if the file could not be read.
    package let expiresAt: WallTime?
    /// Whether the file is an output for something else, or holds, or may hold, anything but the secret: then it must stay.
    package let isShared: Bool

    package init(place: OutputPlace, expiresAt: WallTime?, isShared: Bool) {
        self.place = place
        self.expiresAt = expiresAt
        self.isShared = isShared
    }

    /// The problem and its remedy, ready to show.
    package var sentence: String {
        let what =
            expiresAt.map { "holds a secret that is valid until \($0)" } ?? "may hold a secret that is still valid"
        let path = Printable.name(place.path.description)
        if place.variable == nil, isShared {
            return "\(path): it is another output now, and still \(what) from before; \(remedy)"
        }
        let whose = place.variable.map { "its variable \($0) " } ?? ""
        return "\(path): \(whose)is no longer an output and \(what); \(remedy)"
    }

    /// How to remove the secret. No command: an application may still read it.
    package var remedy: Remedy {
        guard isShared else { return .say("when nothing reads it, remove the file") }
        return .say("when nothing reads it, remove \(place.variable ?? "that secret") from the file")
    }
}
