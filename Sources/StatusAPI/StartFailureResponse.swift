import AppleClientSecret
package import Linux
import NIOHTTP1

/// The response to clients that wait at the socket of a daemon that fails to start: 503 with the reason.
package enum StartFailureResponse {
    /// Answers every client that has connected with the reason, and closes its connection. systemd would start the daemon
    /// again and again for connections that were left waiting.
    ///
    /// - Parameters:
    ///   - listener: non-blocking.
    ///   - headline: the reason on one line.
    ///   - diagnostics: all mistakes of the configuration, where they are the reason.
    ///   - milliseconds: how long all clients together may take to send a request and to read the answer.
    package static func send(
        to listener: borrowing Descriptor, headline: String, diagnostics: [String], within milliseconds: Int64
    ) {
        let bytes = response(headline, diagnostics)
        let deadline = Clocks.bootMilliseconds() + milliseconds
        while let client = try? UnixListener.accept(on: listener.raw) {
            let left = max(deadline - Clocks.bootMilliseconds(), 0)
            let stream = TimedStream(UnixStream(adopting: client), milliseconds: left)
            // Closing with an unread request would discard the answer.
            stream.discardInput()
            try? stream.write(bytes)
        }
    }

    private static func response(_ headline: String, _ diagnostics: [String]) -> [UInt8] {
        var problem = Problem(.serviceUnavailable, "the daemon does not start: " + headline)
        problem.diagnostics = diagnostics
        let body = problem.json + "\n"
        let lines = [
            "HTTP/1.1 503 Service Unavailable", "Content-Type: application/problem+json",
            "Content-Length: \(body.utf8.count)", "Cache-Control: no-store", "Connection: close",
        ]
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)
    }
}
