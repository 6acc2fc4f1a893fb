import AppleClientSecret
import Model

/// The state directory as a whole: data that may have been lost there, and data that is to be removed.
struct StateUpkeep: Sendable {
    /// Writes and reads of the state directory by jobs before this one may have been lost since.
    private(set) var countsFrom = JobID.beforeAll
    /// Whether an earlier configuration may have left records of removed clients.
    private(set) var isTidyingDue = false
    /// Outputs that reloads removed, until they were searched for secrets.
    private(set) var removedPlaces: Set<OutputPlace> = []

    mutating func adopt(_ index: ConfigurationIndex, _ old: Configuration) {
        isTidyingDue = true
        removedPlaces.formUnion(old.places)
        if !removedPlaces.isEmpty { removedPlaces.subtract(index.places) }
    }

    /// The state directory's content may be gone: everything must be written to it again.
    mutating func lose(next: JobID) { countsFrom = next }

    mutating func beginTidying() { isTidyingDue = false }

    mutating func tidyAgain() { isTidyingDue = true }

    /// Records which removed outputs were searched.
    mutating func tidied(_ searched: Set<OutputPlace>) { removedPlaces.subtract(searched) }
}
