import AppleClientSecret
import Daemon
import Rotation

/// What `check` says: a line for each client.
struct ForecastReport {
    var configuration: Configuration
    var secrets: [Forecast.Secret]
    var now: WallTime

    init(configuration: Configuration, forecast: Forecast, now: WallTime) {
        self.configuration = configuration
        secrets = forecast.secrets
        self.now = now
    }

    var lines: [String] {
        secrets.flatMap { secret in
            ["\(secret.client): \(decision(secret))"] + secret.outputsToWrite.map { "  would write \($0)" }
        }
    }

    private func decision(_ secret: Forecast.Secret) -> String {
        switch secret.decision {
        case .wait:
            return "would do nothing until what stands in the way is mended"
        case .keep(let issued, let due):
            let when = TimeWords.full(issued.expiresAt, to: now)
            return "would keep \(issued.fingerprint), which expires \(when); renewal \(TimeWords.full(due, to: now))"
        case .mint(let reason):
            return "would mint a new secret, \(reason.words); \(span(of: secret.client))"
        }
    }

    private func span(of client: ClientName) -> String {
        guard let entry = configuration.clients[client] else { return "" }
        return "it would live for \(TimeWords.span(entry.lifetime.seconds)) and be renewed "
            + "\(TimeWords.span(entry.renewBefore)) before its expiry"
    }
}
