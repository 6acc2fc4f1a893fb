import NIOCore
import Rotation

/// The snapshot on show, and what was rendered of it: the rotation shows often and is asked seldom, so that text is
/// made when somebody asks, and once for each snapshot.
struct ResponseCache {
    let version: String
    private(set) var snapshot: Snapshot?
    private var revision = 0
    private var status: ByteBuffer?
    private var metrics: ByteBuffer?

    init(version: String) {
        self.version = version
    }

    /// Shows `snapshot` from now on, unless that is what is shown already.
    mutating func show(_ snapshot: Snapshot?, revision: Int) {
        guard revision != self.revision else { return }
        self.revision = revision
        self.snapshot = snapshot
        status = nil
        metrics = nil
    }

    mutating func statusText(of snapshot: Snapshot) -> ByteBuffer {
        if let status { return status }
        let text = ByteBuffer(string: StatusDocument(snapshot, version: version).json + "\n")
        status = text
        return text
    }

    mutating func metricsText(of snapshot: Snapshot) -> ByteBuffer {
        var text = metrics ?? ByteBuffer(string: MetricsText.render(snapshot, version: version))
        metrics = text
        // What the process takes up is another thing each time.
        text.writeString(ProcessMetrics.render(startedAt: snapshot.startedAt))
        return text
    }

    func client(_ name: String) -> ClientView? {
        ClientName(name).flatMap { name in snapshot?.clients.first { $0.name == name } }
    }

    var names: [ClientName] {
        snapshot?.clients.map(\.name) ?? []
    }
}
