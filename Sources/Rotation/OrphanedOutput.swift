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

    /// Of an environment file; nil where the file is the secret.
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

/// A place that is no output any more and still holds a secret. It is named once, and left to a person: whatever reads it
/// may not have been told yet where to read now.
package struct OrphanedOutput: Hashable, Sendable {
    package let place: OutputPlace
    /// When the secret expires; nil where the file could not be read.
    package let expiresAt: WallTime?
    /// Whether the file holds anything else, or may do so.
    package let isShared: Bool

    package init(place: OutputPlace, expiresAt: WallTime?, isShared: Bool) {
        self.place = place
        self.expiresAt = expiresAt
        self.isShared = isShared
    }

    /// What happened; what helps.
    package var sentence: String {
        let what =
            expiresAt.map { "holds a secret that is valid until \($0)" } ?? "may hold a secret that is still valid"
        let whose = place.variable.map { "its variable \($0) " } ?? ""
        return "\(Printable.name(place.path.description)): \(whose)is not an output any more and \(what); \(remedy)"
    }

    /// Takes the secret away.
    package var remedy: Remedy {
        let words = "when nothing reads it, take it away"
        let file = place.path.description
        guard let variable = place.variable, isShared else { return .say(words, run: "rm \(file)") }
        let assignment = "/^[[:space:]]*(export[[:space:]]+)?\(variable)=/d"
        return .say(words, run: "sed -i --follow-symlinks -E \(assignment) \(file)")
    }
}

extension Rotation {
    /// Has the records of clients that have long been gone removed, half a year after the last of their secrets expired:
    /// whoever rolls a configuration back by less finds everything as it was. Places that are no outputs any more are looked
    /// for with that.
    mutating func planTidying(at now: Now, _ step: inout Step) {
        // A clock that is wrong by years must not make them old.
        guard wantsTidying, isReady, clock.failure == nil else { return }
        var deadlines = Deadlines(now: now)
        let work = Work.tidyRecords(
            keeping: Set(names), expiredBefore: now.wall - Lifetime.appleLimit, former: formerPlaces,
            outputs: world.configuration.places)
        if start(work, on: .state, &deadlines, &step) { wantsTidying = false }
        wakes[.state].formEarliest(with: deadlines.wake)
    }

    /// Where secrets were published, as far as is known here: the state directory knows of clients that are gone.
    private var formerPlaces: Set<OutputPlace> {
        world.clients.values.reduce(into: removedPlaces) { $0.formUnion($1.kept.outputs) }
    }

    /// What a client's record names as its outputs: also what they were before, until somebody was told of those.
    func recordedPlaces(of client: Subject, _ state: ClientState) -> Set<OutputPlace> {
        let places = client.entry.places
        return areOrphansKnown ? places : places.union(state.kept.outputs)
    }

    /// Takes in which places are no outputs any more.
    mutating func tidied(_ orphans: [OrphanedOutput], lookedFor: Set<OutputPlace>, at now: Now) {
        removedPlaces.subtract(lookedFor)
        let outputs = world.configuration.places
        let live = orphans.filter { orphan in
            // A reload may have made it an output again.
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
