/// The content of a file with the daemon's metrics.
package enum MetricsFileContent: Hashable, Sendable {
    case everything(Snapshot)
    /// Only times: they stay true when the daemon has ended, and are needed most then.
    case times(Snapshot)
}
