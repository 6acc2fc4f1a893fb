import AppleClientSecret
import CLibcurl
import Glibc

/// How long an API asks to wait (`Retry-After:`).
enum RetryAfter {
    /// The delay, a number of seconds or a date; nil if the last answer has none, or any other text.
    ///
    /// - Parameter now: the server's clock; nil: this machine's.
    static func seconds(in transfer: CurlTransfer, now: WallTime?) -> Int? {
        guard let text = transfer.header("Retry-After") else { return nil }
        if let seconds = Int(text) { return seconds }
        let moment = unsafe curl_getdate(text, nil)
        guard moment >= 0 else { return nil }
        return moment - (now.map { Int($0.secondsSinceEpoch) } ?? time(nil))
    }
}
