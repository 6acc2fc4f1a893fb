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

extension Configuration {
    /// The places behind APIs that another configuration no longer has secrets put into, and that hold one.
    ///
    /// - Parameter secret: the secret that a client's place holds; nil if that is not known.
    package func orphans(
        behindAPIsIn other: Configuration, _ secret: (ClientName, PushOutput) -> SecretInfo?
    ) -> [OrphanedOutput] {
        let places = Set(other.clients.values.flatMap(\.targets).map(\.place))
        var found: [OrphanedOutput] = []
        for (name, client) in clients.sorted(by: { $0.key < $1.key }) {
            for output in client.targets where !places.contains(output.place) {
                if let held = secret(name, output) { found.append(OrphanedOutput(output, expiresAt: held.expiresAt)) }
            }
        }
        return found
    }
}

/// A former output that still holds a secret. It is reported once and left for an operator to remove: an application
/// that was not reconfigured yet may still read it.
package struct OrphanedOutput: Hashable, Sendable {
    package enum Place: Hashable, Sendable {
        case file(OutputPlace)
        /// Behind an API.
        case target(PushOutput)
    }

    package let place: Place
    /// When the secret expires; nil if the file could not be read.
    package let expiresAt: WallTime?
    /// Whether the file is an output for something else, or holds, or may hold, anything but the secret: then it must stay.
    package let isShared: Bool

    package init(place: OutputPlace, expiresAt: WallTime?, isShared: Bool) {
        self.place = .file(place)
        self.expiresAt = expiresAt
        self.isShared = isShared
    }

    /// - Parameter expiresAt: when the secret that was put there expires.
    package init(_ output: PushOutput, expiresAt: WallTime) {
        place = .target(output)
        self.expiresAt = expiresAt
        isShared = true
    }

    /// The problem and its remedy, ready to show.
    package var sentence: String {
        let what =
            expiresAt.map { "holds a secret that is valid until \($0)" } ?? "may hold a secret that is still valid"
        guard case .file(let place) = self.place else {
            return "\(name): it is no longer an output and \(what); \(remedy)"
        }
        if place.variable == nil, isShared {
            return "\(name): it is another output now, and still \(what) from before; \(remedy)"
        }
        let whose = place.variable.map { "its variable \($0) " } ?? ""
        return "\(name): \(whose)is no longer an output and \(what); \(remedy)"
    }

    private var name: String {
        switch place {
        case .file(let place): Printable.name(place.path.description)
        case .target(let output): "\(Failure.Place.target(output.target))"
        }
    }

    /// How to remove the secret. No command: an application may still read it.
    package var remedy: Remedy {
        guard case .file(let place) = self.place else { return .say("when nothing reads it, remove the secret there") }
        guard isShared else { return .say("when nothing reads it, remove the file") }
        return .say("when nothing reads it, remove \(place.variable ?? "that secret") from the file")
    }
}
