/// The result of a job, one case for each kind of work.
package enum Outcome: Hashable, Sendable {
    case configuration(Configuration)
    /// The configuration was refused; the lines are the reasons.
    case refused([String])
    /// The configuration could not be read, whatever its text says; the lines say why.
    case unread([String])
    /// A reload would adopt the configuration on disk.
    case passes
    case key(KeyDigest)
    case recalled(Record)
    /// The record is in a state directory that cannot be written to or locked, so that it is not kept there.
    case recalledUnkept(Record)
    case source(SourceObservation)
    /// The content of each place that was read, and the rollouts found.
    case storeRead([StorePlace: StoreObservation], rollouts: [StorePlace: RolloutObservation] = [:])
    case putInStore(StorePut)
    case rolloutPut(RolloutPut)
    case reportPut(ReportPut)
    /// By the names of the machines.
    case reportsRead([String: ReportObservation])
    /// The report is gone, or is another one.
    case reportForgotten
    case observed(FileObservation)
    case minted(SecretInfo)
    case kept(Record)
    /// Apple accepts the secret.
    case accepted
    /// The content of the file after it was written, read back.
    case published(FileObservation)
    /// The API reports that it has taken the secret, and showed this then.
    case pushed(PushPlaceReading)
    case targetRead(PushPlaceReading)
    case ran
    /// A project is being deployed again, which takes minutes: the action is to be run again, to see whether it is done.
    case deploying
    /// Nothing was found that would keep an action from running.
    case feasible
    case recalledReportedStates(ReportedStates)
    case keptReportedStates(ReportedStates)
    case tidied([OrphanedOutput])
    case metricsWritten
    case metricsRemoved
}
