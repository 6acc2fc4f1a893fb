import AppleClientSecret
import Model
import NIOCore

/// The latest snapshot and the texts rendered from it. Snapshots come often and requests seldom, so a text is rendered
/// when it is requested, once for each snapshot.
struct ResponseCache {
    private(set) var snapshot: Snapshot?
    private var revision = 0
    private var status: ByteBuffer?
    private var metrics: ByteBuffer?

    /// Replaces the snapshot, unless `revision` is the current one.
    mutating func show(_ snapshot: Snapshot?, revision: Int) {
        guard revision != self.revision else { return }
        self.revision = revision
        self.snapshot = snapshot
        status = nil
        metrics = nil
    }

    mutating func statusText(of snapshot: Snapshot) -> ByteBuffer {
        if let status { return status }
        let text = ByteBuffer(string: snapshot.json + "\n")
        status = text
        return text
    }

    mutating func metricsText(of snapshot: Snapshot) -> ByteBuffer {
        var text = metrics ?? ByteBuffer(string: Metrics.text(of: snapshot))
        metrics = text
        // The process's resource use changes from scrape to scrape.
        text.writeString(ProcessMetrics.text(startedAt: snapshot.startedAt))
        return text
    }

    var names: [ClientName] {
        snapshot?.clients.map(\.name) ?? []
    }
}
