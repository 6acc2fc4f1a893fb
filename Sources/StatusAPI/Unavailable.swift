import AppleClientSecret
package import Linux
import NIOHTTP1

/// The answer for whoever waits at the status socket of a daemon that does not come to run.
package enum Unavailable {
    /// Tells those who have connected why, and lets them go. systemd would take them for new visitors otherwise, and start
    /// the daemon again and again.
    ///
    /// - Parameters:
    ///   - listener: does not block.
    ///   - headline: one line for everybody.
    ///   - diagnostics: all that is wrong with the configuration, where that is why.
    ///   - milliseconds: how long all of them together may take to ask and to read.
    package static func turnAway(
        _ listener: borrowing Descriptor, headline: String, diagnostics: [String], within milliseconds: Int64
    ) {
        let bytes = response(headline, diagnostics)
        let deadline = Clocks.bootMilliseconds() + milliseconds
        while let client = try? UnixListener.accept(on: listener.raw) {
            let left = max(deadline - Clocks.bootMilliseconds(), 0)
            let stream = TimedStream(UnixStream(adopting: client), milliseconds: left)
            // A request that nobody has read would have the answer thrown away.
            stream.skipWhatComes()
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
