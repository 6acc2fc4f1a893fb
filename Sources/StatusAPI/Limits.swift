extension StatusServer {
    /// How much of the daemon one visitor, and all of them together, may take up.
    ///
    /// Tests make times shorter and counts smaller; the daemon uses the values below.
    package struct Limits: Hashable, Sendable {
        /// In all: twice what a machine's monitoring, its operators and a few scripts hold open together, and far from
        /// the 1,024 descriptors that a service has by default.
        package var connections = 64
        /// For one user but root, so that no single account keeps the others out. On the metrics socket this many may send a
        /// request, and as many others be sent an answer.
        package var connectionsPerUser = 8
        /// Of all, only for root and the daemon's own user: those who have to see what is going on get in.
        package var keptConnections = 4

        /// Bytes of the request line and the header together: curl sends 100, a browser with cookies 2,000.
        package var headerSize = 8192
        /// Header fields: browsers send about 15.
        package var headerFields = 64
        /// Bytes of a body: a renewal that names each of 900 clients by a name of the longest kind.
        package var bodySize = 65_536

        /// Milliseconds from a request's first byte to its last, however steadily the bytes drip in: a local client
        /// needs one.
        package var requestTime: Int64 = 10_000
        /// Milliseconds that a connection may lie unused between two requests: above the 15 to 60 s at which monitoring
        /// systems come back.
        package var idleTime: Int64 = 60_000
        /// Milliseconds that a client may take to read an answer.
        package var answerTime: Int64 = 30_000
        /// Milliseconds that are left to a client once the daemon stops: of the 5 s that a stop may take, jobs have 4.
        package var stopTime: Int64 = 250

        /// Requests that wait for the rotation to answer, those whose client has gone away included.
        package var pendingRequests = 64
        /// Milliseconds between two renewals of one client, but for root: the contract's 10 s.
        package var renewalPause: Int64 = 10_000

        /// The limits of the daemon.
        package init() {}

        /// The same where a process may have only so many descriptors: then there are fewer connections.
        package init(descriptors: Int) {
            connections = min(connections, max(Self.fewestConnections, descriptors - Self.descriptorsForRotation))
        }

        /// Descriptors that visitors leave to the rotation: the loop and its sockets hold two dozen, and each of a lane's
        /// eight workers goes along a path with a dozen directories and a few files open. Those that keep records go along
        /// one path, which they share.
        private static let descriptorsForRotation = 192
        /// However few descriptors there are: as many for those who run the machine, and as many for everybody else.
        private static let fewestConnections = 8
    }
}
