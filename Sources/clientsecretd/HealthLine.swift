import AppleClientSecret
import Monitoring
import Rotation

/// What `health` says: one line and an exit code, after the monitoring plugins' development guidelines
/// (https://www.monitoring-plugins.org/doc/guidelines.html): the service, the state, words, and after a bar the
/// performance data, the remaining life of each client's secret in seconds.
struct HealthLine: Equatable {
    /// The exit codes of monitoring plugins.
    enum State: Int32 {
        case ok = 0
        case warning = 1
        case critical = 2
        case unknown = 3

        init(_ standing: Standing) {
            self =
                switch standing {
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
    /// When what each client's applications hold expires; nil for none.
    var expiries: [(client: String, at: WallTime?)] = []

    static func == (left: HealthLine, right: HealthLine) -> Bool {
        left.state == right.state && left.words == right.words
            && left.expiries.map(\.client) == right.expiries.map(\.client)
            && left.expiries.map(\.at) == right.expiries.map(\.at)
    }

    /// What the daemon says of itself.
    init(_ document: StatusDocument, now: WallTime) {
        // A state that this version has no name for is one that it cannot judge.
        state = Standing(rawValue: document.state).map(State.init) ?? .unknown
        expiries = document.clients.map { client in
            (client.name, client.delivered ? client.expiresAt : client.deliveredExpiresAt)
        }
        words = [document.reason.map { TimeWords.annotated($0, now: now) }, summary(now: now)].compactMap { $0 }
            .joined(separator: "; ")
        if state == .unknown { words = "the daemon calls itself \"\(document.state)\": \(words)" }
    }

    /// What the published files say by themselves.
    ///
    /// - Parameter unanswered: why no daemon was heard; nil when none was asked.
    init(_ appraisals: [Appraisal], unanswered: String?, now: WallTime) {
        expiries = appraisals.map { ($0.client.description, $0.expiresAt) }
        let troubled = appraisals.max { Self.rank($0.standing) < Self.rank($1.standing) }
        state = troubled?.standing.map(State.init) ?? .unknown
        words = [troubled?.trouble.map { TimeWords.annotated($0.sentence, now: now) }, summary(now: now)]
            .compactMap { $0 }.joined(separator: "; ")
        if let unanswered {
            // What is published is good for now, but nobody may be there to renew it.
            if state == .ok { state = .warning }
            words = "\(unanswered); what is published: \(words)"
        }
    }

    /// Nothing can be said of any secret.
    init(unknown reason: String) {
        state = .unknown
        words = reason
    }

    /// What is known to be bad goes before what is not known.
    private static func rank(_ standing: Standing?) -> Int {
        switch standing {
        case .ok: 0
        case nil: 1
        case .degraded: 2
        case .critical: 3
        }
    }

    private func summary(now: WallTime) -> String {
        let count = expiries.count == 1 ? "1 client" : "\(expiries.count) clients"
        let known = expiries.compactMap { entry in entry.at.map { (entry.client, $0) } }
        guard let first = known.min(by: { $0.1 < $1.1 }) else { return count }
        let verb = now < first.1 ? "to expire is" : "to expire was"
        return "\(count), the first secret \(verb) \(first.0)'s, \(TimeWords.full(first.1, to: now))"
    }

    /// The line as it is printed. A bar would begin the performance data, a line break another line.
    func text(now: WallTime) -> String {
        let plain = String(words.map { $0 == "|" ? "/" : $0.isNewline ? " " : $0 })
        let data = expiries.compactMap { entry in
            entry.at.map { "'\(entry.client)'=\(max(0, ($0 - now).count))s;;;0" }
        }
        return "CLIENTSECRETD \(state.word) - \(plain)" + (data.isEmpty ? "" : " | \(data.joined(separator: " "))")
    }
}
