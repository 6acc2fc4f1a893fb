import AppleClientSecret
package import Rotation

/// The metrics in Prometheus' text format, version 0.0.4.
///
/// A time that is not known yet is 0, so that a metric exists from the first scrape until its client is removed.
package enum MetricsText {
    static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    /// All metrics of `snapshot`, from a daemon of `version`.
    package static func render(_ snapshot: Snapshot, version: String) -> String {
        var text = MetricsWriter()
        times(of: snapshot.clients, &text)
        rest(of: snapshot, version, &text)
        return text.output
    }

    /// Only the times: they stay true when the daemon has ended, and are needed most then.
    package static func renderTimes(of snapshot: Snapshot) -> String {
        var text = MetricsWriter()
        times(of: snapshot.clients, &text)
        return text.output
    }

    private static func times(of clients: [ClientView], _ text: inout MetricsWriter) {
        text.clientGauge("secret_issued_timestamp_seconds", "When the current secret was issued (iat).", clients) {
            $0.current?.issuedAt.secondsSinceEpoch ?? 0
        }
        text.clientGauge("secret_expiry_timestamp_seconds", "When the current secret expires.", clients) {
            $0.current?.expiresAt.secondsSinceEpoch ?? 0
        }
        text.clientGauge(
            "secret_delivered_expiry_timestamp_seconds", "When the secret that applications were last told of expires.",
            clients
        ) { $0.deliveredExpiresAt?.secondsSinceEpoch ?? 0 }
        text.clientGauge("secret_renewal_timestamp_seconds", "When the current secret is renewed.", clients) {
            $0.renewAt?.secondsSinceEpoch ?? 0
        }
        text.clientGauge(
            "secret_published_timestamp_seconds", "When an output was last written since the daemon started.", clients
        ) { $0.publishedAt?.secondsSinceEpoch ?? 0 }
        text.clientGauge(
            "secret_last_success_timestamp_seconds",
            "When the client was last brought up to date, or found so after a start.", clients
        ) { $0.lastSuccessAt?.secondsSinceEpoch ?? 0 }
    }

    private static func rest(of snapshot: Snapshot, _ version: String, _ text: inout MetricsWriter) {
        let clients = snapshot.clients
        text.clientGauge("secret_ok", "Whether the client's state is ok.", clients) { $0.health == .ok ? 1 : 0 }
        text.outputs("output_ok", "Whether the output holds its current secret.", .gauge, clients) {
            $0.state == .ok ? 1 : 0
        }
        text.tally("mints_total", "Secrets made, and failures to make one.", clients) { $0.counts.mints }
        text.tally("publishes_total", "Writes of files that hold an output.", clients) { $0.counts.publishes }
        text.tally("deliveries_total", "Runs of actions that told of the secret.", clients) { $0.counts.deliveries }
        text.clientGauge("consecutive_failures", "Attempts that failed in a row.", clients) {
            Int64($0.consecutiveFailures)
        }
        text.clientGauge("deliveries_pending", "Actions that have not succeeded for the current secret.", clients) {
            Int64($0.actions.count { $0.state != .ok })
        }
        text.outputs(
            "drift_repairs_total", "How often damage by somebody else was repaired.", .counter, clients
        ) { Int64($0.repairs) }
        text.family("state", "The state of the whole daemon: one of them is 1.", .gauge)
        for health in HealthState.allCases {
            text.sample([("state", health.rawValue)], snapshot.health == health ? 1 : 0)
        }
        text.family(
            "config_last_reload_successful", "Whether the configuration that lies there would be accepted.", .gauge)
        text.sample([], snapshot.configuration.error == nil ? 1 : 0)
        text.family("clock_trusted", "Whether the clock is trusted.", .gauge)
        text.sample([], snapshot.clockTrusted ? 1 : 0)
        text.family("build_info", "The version that runs.", .gauge)
        text.sample([("version", version)], 1)
    }
}
