package import AppleClientSecret

/// How much of the daemon's resources one client, and all clients together, may use.
///
/// Tests make times shorter and counts smaller; the daemon uses the values below.
package struct HTTPLimits: Hashable, Sendable {
    /// Open connections: twice as many as a machine's monitoring, its operators and a few scripts hold open together. This is far
    /// below the 1,024 descriptors that a service has by default.
    package var connections = 64
    /// Open connections of each user except root, so that no account locks out the others. On the metrics socket:
    /// connections that send a request or are idle, and as many that are sent an answer.
    package var connectionsPerUser = 8
    /// The part of `connections` reserved for root and the daemon's own user, so that operators always get in.
    package var keptConnections = 4

    /// Connections that were sent their last answer and are read to their end. They do not count above, because a client closes
    /// its side within a millisecond.
    package var dismissedConnections = 16

    /// Bytes of the request line and the header together, and of chunk extensions and trailers: curl sends 100, a browser with
    /// cookies 2,000.
    package var headerSize = 8192
    /// Header fields: browsers send about 15.
    package var headerFields = 64
    /// Bytes of a body: a renewal that lists 900 clients whose names have the maximum length.
    package var bodySize = 65_536

    /// Milliseconds after which a connection that sends requests ahead of their answers lets the others go on. The metrics of a
    /// few clients take less than one, those of a thousand more than all of them.
    package var turnTime: Int64 = 5
    /// Milliseconds from a request's first byte to its last, even if bytes keep arriving; a local client needs one. The same for
    /// bytes that a client still sends after its last answer.
    package var requestTime: Int64 = 10_000
    /// Milliseconds that a connection may be idle between two requests. Monitoring systems ask every 15 to 60 s over a connection
    /// that they keep. This is longer than any of these by half a minute. A request that is sent while the connection is being
    /// closed is lost, and the scrape fails.
    package var idleTime: Int64 = 90_000
    /// Milliseconds that a client may take to read an answer.
    package var answerTime: Int64 = 30_000
    /// Milliseconds that a client has left once the daemon stops: of the 5 s that a stop may take, jobs have 4.
    package var stopTime: Int64 = 250

    /// Requests that may await the rotation's answer, including those whose client has disconnected.
    package var pendingRequests = 64
    /// Between two requests for one thing by a user other than root.
    package var requestPause = RateLimitedRequest.pause

    package init() {}
}
