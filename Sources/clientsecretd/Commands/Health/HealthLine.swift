import AppleClientSecret
import Failures
import Model
import Rotation
import StatusAPI

/// The output of `health`: one line and an exit code. It follows the monitoring plugins' development guidelines
/// (https://www.monitoring-plugins.org/doc/guidelines.html). The line has the service, the state and words. After a `|` come the
/// performance data, the remaining life of each client's secret in seconds.
///
/// Monitoring systems read 4 KiB and cut off the rest. So a reason that is too long is cut, and a command that does not fit is
/// left to `check`. The first clients that are not ok are named and the others counted. Performance data is given for as many
/// clients as there is room for. The worst clients always come first.
struct HealthLine: Equatable {
    /// The exit codes of monitoring plugins.
    enum State: Int32 {
        case ok = 0
        case warning = 1
        case critical = 2
        case unknown = 3

        init(_ health: HealthState) {
            self =
                switch health {
                case .ok: .ok
                case .degraded: .warning
                case .critical: .critical
                }
        }

        fileprivate var word: String {
            switch self {
            case .ok: "OK"
            case .warning: "WARNING"
            case .critical: "CRITICAL"
            case .unknown: "UNKNOWN"
            }
        }
    }

    var state: State
    var words = ""
    /// The worst first.
    private(set) var clients: [Client] = []

    struct Client: Equatable {
        var name: String
        var state: State
        /// When the secret that its applications hold expires; nil when they hold none.
        var expiresAt: WallTime?
    }

    /// Bytes of the line with its line break.
    static let limit = 4096
    /// Bytes of the words before the `|`, and of the reason in them. The names of clients and the times that follow the reason
    /// take a thousand at most.
    private static let wordsLimit = 3072
    private static let reasonLimit = 1536
    /// How many other problems follow it, and the bytes of each.
    private static let otherProblems = 2
    private static let otherLimit = 200
    /// Bytes of why the daemon did not answer, which comes before the reason.
    private static let unansweredLimit = 500
    /// Clients that are named before the others are counted.
    private static let namedClients = 12

    /// The line for the daemon's snapshot.
    init(_ snapshot: Snapshot, now: WallTime) {
        state = State(snapshot.health)
        clients = Self.worstFirst(
            snapshot.clients.map { client in
                Client(
                    name: client.name.description, state: State(client.health),
                    expiresAt: client.delivered ? client.current?.expiresAt : client.deliveredExpiresAt)
            })
        words = words(
            of: snapshot.reasonReport.map { CommandMessage($0.sentence, command: $0.failure?.command) },
            others: snapshot.problemReports.map { $0.failure?.message ?? $0.sentence }, now: now)
    }

    /// The line for an offline health evaluation of the published files.
    ///
    /// - Parameters:
    ///   - isForeign: whether a user other than root and the service's user asks. No remedy suits that user.
    ///   - unanswered: why the daemon did not answer, such as ``words(of:)``; nil when it was not asked.
    init(_ evaluations: [OutputsHealth], isForeign: Bool = false, unanswered: String?, now: WallTime) {
        clients = Self.worstFirst(
            evaluations.map {
                Client(
                    name: $0.client.description, state: $0.health.map(State.init) ?? .unknown, expiresAt: $0.expiresAt
                )
            })
        state = clients.first?.state ?? .unknown
        let worst = evaluations.first { $0.client.description == clients.first?.name }
        words = words(
            of: worst?.failure.map { failure in
                isForeign
                    ? CommandMessage(failure.message, command: nil)
                    : CommandMessage(failure.sentence, command: failure.remedy?.command)
            }, now: now)
        if let unanswered {
            // No daemon may be running to renew the secrets that are valid now. That is known, whatever is not known of others.
            if clients.contains(where: { $0.state == .ok }), [.ok, .unknown].contains(state) { state = .warning }
            words = "\(unanswered); published: \(words)"
        }
    }

    /// Why the daemon did not answer, with its command if the line can show it.
    static func words(of error: StatusClientError) -> String {
        CommandMessage(error.description, command: error.remedy?.command).text(atMost: unansweredLimit, keeping: keeps)
    }

    /// Why the daemon did not answer, then the reason found without it, unless that is what the daemon has answered.
    ///
    /// - Parameter heading: the words before that reason.
    static func words(_ unanswered: String?, then reason: String, after heading: String = "") -> String {
        guard let unanswered else { return heading + reason }
        return unanswered.contains(reason) ? unanswered : "\(unanswered); \(heading)\(reason)"
    }

    /// The line when no secret can be evaluated: unknown, or a warning if only the daemon does not answer.
    init(_ state: State, _ words: String) {
        self.state = state
        self.words = words
    }

    private static func worstFirst(_ clients: [Client]) -> [Client] {
        // Known failures come before unknown states.
        let order: [State] = [.critical, .warning, .unknown, .ok]
        func rank(_ client: Client) -> (Int, Int64, String) {
            let seconds = client.expiresAt?.secondsSinceEpoch ?? .min
            return (order.firstIndex(of: client.state) ?? 0, seconds, client.name)
        }
        return clients.sorted { rank($0) < rank($1) }
    }

    /// - Parameter others: other problems, some of which the reason may name.
    private func words(of reason: CommandMessage?, others: [String] = [], now: WallTime) -> String {
        let others = others.filter { reason?.text.contains($0) != true }.prefix(Self.otherProblems).map {
            CommandMessage.cut("also: " + TimeWords.annotated($0, now: now), to: Self.otherLimit)
        }
        let reason = reason.map { reason in
            reason.rewritten { TimeWords.annotated($0, now: now) }
                .text(atMost: Self.reasonLimit, keeping: Self.keeps)
        }
        return ([reason] + others + [failing, summary(now: now)]).compactMap { $0 }.joined(separator: "; ")
    }

    /// Which clients are not ok, when there are several: the reason is that of the worst one only.
    private var failing: String? {
        let names = clients.filter { $0.state != .ok }.map(\.name)
        guard names.count > 1 else { return nil }
        return "\(names.count) clients are not ok: \(listed(names, atMost: Self.namedClients))"
    }

    private func summary(now: WallTime) -> String {
        let count = clients.count == 1 ? "1 client" : "\(clients.count) clients"
        let known = clients.compactMap { client in client.expiresAt.map { (client.name, $0) } }
        guard let first = known.min(by: { $0.1 < $1.1 }) else { return count }
        let verb = now < first.1 ? "to expire is" : "to expire was"
        return "\(count), the first secret \(verb) \(first.0)'s, \(TimeWords.full(first.1, to: now))"
    }

    /// Whether the line shows `text` unchanged: without a `|`, and in any locale.
    private static func keeps(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0.isASCIIPrintable && $0 != UInt8(ascii: "|") }
    }

    /// The line as printed. A `|` in the words would begin the performance data, a line break another line.
    func text(now: WallTime) -> String {
        let plain = String(words.map { $0 == "|" ? "/" : $0.isNewline ? " " : $0 })
        var line = "CLIENTSECRETD \(state.word) - \(CommandMessage.cut(plain, to: Self.wordsLimit))"
        var separator = " | "
        for client in clients {
            guard let expiry = client.expiresAt else { continue }
            let datum = separator + "'\(client.name)'=\(max(0, (expiry - now).count))s;;;0"
            guard line.utf8.count + datum.utf8.count < Self.limit else { break }
            line += datum
            separator = " "
        }
        return line
    }
}
