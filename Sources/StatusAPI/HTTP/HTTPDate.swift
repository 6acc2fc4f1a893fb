import AppleClientSecret
import Linux

/// Times as the field `Date` writes them (RFC 9110, section 5.6.7): `Thu, 26 Nov 2026 11:05:00 GMT`.
enum HTTPDate {
    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    static var now: String { text(of: WallTime(secondsSinceEpoch: Clocks.wallSeconds())) }

    /// Of a moment from 1970 on, before the year 10000.
    static func text(of moment: WallTime) -> String {
        let parts = moment.description.split { "-T:Z".contains($0) }
        guard parts.count == 6, moment.secondsSinceEpoch >= 0, let month = Int(parts[1]) else {
            return text(of: WallTime(secondsSinceEpoch: 0))
        }
        // 1970 began on a Thursday.
        let day = days[Int(moment.secondsSinceEpoch / 86_400 % 7)]
        return "\(day), \(parts[2]) \(months[month - 1]) \(parts[0]) \(parts[3]):\(parts[4]):\(parts[5]) GMT"
    }
}
