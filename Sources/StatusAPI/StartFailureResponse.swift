import AppleClientSecret
package import Linux
import NIOHTTP1

/// The response to clients that wait at the socket of a daemon that fails to start: 503 with the reason.
package struct StartFailureResponse: Sendable {
    private let bytes: [UInt8]
    /// How many clients may wait at a socket: the kernel's limit for its queue (net.core.somaxconn).
    private static let queue = 4096

    /// - Parameters:
    ///   - headline: the reason on one line.
    ///   - diagnostics: all errors of the configuration, if they are the reason.
    package init(headline: String, diagnostics: [String]) {
        bytes = Self.response(headline, diagnostics)
    }

    /// Answers every client that has connected with the reason, and closes its connection. Over TCP it is only closed.
    ///
    /// After the deadline, clients that still wait get the answer if it needs no waiting. Clients that keep on connecting do not
    /// extend it.
    ///
    /// - Parameters:
    ///   - listener: the socket to which they connect.
    ///   - milliseconds: how long all clients together may take to send a request and to read the answer.
    /// - Returns: whether there was one.
    package func send(to listener: ListeningSocket, within milliseconds: Int64) -> Bool {
        let deadline = Deadline(in: milliseconds)
        var wasAny = false
        var late = 0
        while late < Self.queue, let client = try? listener.accept() {
            wasAny = true
            if deadline.hasPassed { late += 1 }
            guard listener.kind.family == .unix else { continue }
            let stream = UnixStream(adopting: client, milliseconds: deadline.rest)
            // Closing with an unread request would discard the answer.
            stream.discardInput()
            try? stream.write(bytes)
        }
        return wasAny
    }

    private static func response(_ headline: String, _ diagnostics: [String]) -> [UInt8] {
        let problem = Problem(
            .serviceUnavailable, "the daemon does not start: " + headline, diagnostics: diagnostics)
        let body = problem.json + "\n"
        let lines = [
            "HTTP/1.1 503 Service Unavailable", "Content-Type: application/problem+json",
            "Content-Length: \(body.utf8.count)", "Cache-Control: no-store", "Date: \(HTTPDate.now)",
            "Connection: close",
        ]
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)
    }
}
