package import AppleClientSecret
package import Failures

/// Where a client's secret is published: a file, or one variable of an environment file.
package struct OutputPlace: Hashable, Comparable, Sendable {
    package let path: AbsolutePath
    package let slot: Slot

    package init(path: AbsolutePath, slot: Slot) {
        self.path = path
        self.slot = slot
    }

    package static func < (left: OutputPlace, right: OutputPlace) -> Bool {
        (left.path, left.variable ?? "") < (right.path, right.variable ?? "")
    }

    /// The variable of an environment file; nil where the whole file is the secret.
    package var variable: String? {
        if case .variable(let name) = slot { name } else { nil }
    }
}

extension ClientConfiguration {
    var places: Set<OutputPlace> {
        Set(outputs.map { OutputPlace(path: $0.path, slot: $0.slot) })
    }
}

extension Configuration {
    /// Where secrets are published.
    package var places: Set<OutputPlace> {
        clients.values.reduce(into: []) { $0.formUnion($1.places) }
    }
}

/// A former output that still holds a secret. It is reported once and left for an operator to remove: an application
/// that was not reconfigured yet may still read it.
package struct OrphanedOutput: Hashable, Sendable {
    package let place: OutputPlace
    /// When the secret expires; nil where the file could not be read.
    package let expiresAt: WallTime?
    /// Whether the file holds, or may hold, anything besides the secret.
    package let isShared: Bool

    package init(place: OutputPlace, expiresAt: WallTime?, isShared: Bool) {
        self.place = place
        self.expiresAt = expiresAt
        self.isShared = isShared
    }

    /// What happened and what to do about it, ready to show.
    package var sentence: String {
        let what =
            expiresAt.map { "holds a secret that is valid until \($0)" } ?? "may hold a secret that is still valid"
        let whose = place.variable.map { "its variable \($0) " } ?? ""
        return "\(Printable.name(place.path.description)): \(whose)is not an output any more and \(what); \(remedy)"
    }

    /// How to remove the secret.
    package var remedy: Remedy {
        let words = "when nothing reads it, take it away"
        let file = place.path.description
        guard let variable = place.variable, isShared else { return .say(words, run: "rm \(file)") }
        let assignment = "/^[[:space:]]*(export[[:space:]]+)?\(variable)=/d"
        return .say(words, run: "sed -i --follow-symlinks -E \(assignment) \(file)")
    }
}

extension Rotation {
    /// Removes the records of clients that are no longer configured, half a year after the last of their secrets
    /// expired: an operator who rolls the configuration back sooner finds everything unchanged. The same job looks for
    /// former outputs that still hold a secret.
    mutating func planTidying(at now: Now, _ step: inout Step) {
        // A clock that is years ahead must not make records look old enough to remove.
        guard wantsTidying, isReady, clock.failure == nil else { return }
        var deadlines = Deadlines(now: now)
        let work = Work.tidyRecords(
            keeping: Set(names), expiredBefore: now.wall - Lifetime.appleLimit, former: formerPlaces,
            outputs: world.configuration.places)
        if start(work, on: .state, &deadlines, &step) { wantsTidying = false }
        wakes[.state].formEarliest(with: deadlines.wake)
    }

    /// Where secrets were published, as far as known in memory: the state directory adds the places of removed clients.
    private var formerPlaces: Set<OutputPlace> {
        world.clients.values.reduce(into: removedPlaces) { $0.formUnion($1.kept.outputs) }
    }

    /// The outputs that a client's record names; its former ones, too, until orphans among them were reported.
    func recordedPlaces(of client: Subject, _ state: ClientState) -> Set<OutputPlace> {
        let places = client.entry.places
        return areOrphansKnown ? places : places.union(state.kept.outputs)
    }

    /// Records which former outputs hold a valid secret, and reports them.
    mutating func tidied(_ orphans: [OrphanedOutput], lookedFor: Set<OutputPlace>, at now: Now) {
        removedPlaces.subtract(lookedFor)
        let outputs = world.configuration.places
        let live = orphans.filter { orphan in
            // Meanwhile a reload may have made it an output again.
            !outputs.contains(orphan.place) && orphan.expiresAt.map { now.wall < $0 } != false
        }
        changes += live.map(LogEvent.orphaned)
        for index in pending.indices where pending[index].request == .reload && !pending[index].wantsConfiguration {
            pending[index].orphaned += live.map(\.sentence)
        }
        guard !wantsTidying else { return }
        areOrphansKnown = true
        for name in names where world.clients[name]?.kept.outputs != world.index.subjects[name]?.entry.places {
            touch(.record(name))
        }
    }
}
