import AppleClientSecret
package import Model

/// The metrics in Prometheus' text format, version 0.0.4.
package enum Metrics {
    static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    /// All metrics of `snapshot`; those of the process (`ProcessMetrics.swift`) are not among them.
    package static func text(of snapshot: Snapshot) -> String {
        Metric.text(times + states, of: snapshot)
    }

    /// Only the times: they stay true when the daemon has ended, and are needed most then.
    package static func timesText(of snapshot: Snapshot) -> String {
        Metric.text(times, of: snapshot)
    }

    /// One row for each metric. A time that is not known yet is 0, so that a metric exists from the first scrape until
    /// its client is removed.
    static let times: [Metric<Snapshot>] = [
        .ofClients("secret_issued_timestamp_seconds", "When the current secret was issued (iat).") {
            $0.current?.issuedAt.secondsSinceEpoch ?? 0
        },
        .ofClients("secret_expiry_timestamp_seconds", "When the current secret expires.") {
            $0.current?.expiresAt.secondsSinceEpoch ?? 0
        },
        .ofClients(
            "secret_delivered_expiry_timestamp_seconds",
            "The earliest expiry of the secrets that applications were last given, also by APIs."
        ) { $0.deliveredExpiresAt?.secondsSinceEpoch ?? 0 },
        .ofClients("secret_renewal_timestamp_seconds", "When the current secret is renewed.") {
            $0.renewAt?.secondsSinceEpoch ?? 0
        },
        .ofClients(
            "secret_published_timestamp_seconds", "When an output was last written since the daemon started."
        ) { $0.publishedAt?.secondsSinceEpoch ?? 0 },
        .ofClients(
            "secret_last_success_timestamp_seconds",
            "When the client was last brought up to date, or was found to be up to date after a start."
        ) { $0.lastSuccessAt?.secondsSinceEpoch ?? 0 },
    ]

    static let states: [Metric<Snapshot>] = [
        .ofClients("secret_ok", "Whether the client's state is ok.") { $0.health == .ok ? 1 : 0 },
        .ofClients(
            "verification", "Apple's verdict on the newest secret: one of them is 1 once it is asked for.",
            by: "verdict"
        ) { client in
            VerificationView.Verdict.allCases.map { ($0.rawValue, client.verification?.verdict == $0 ? 1 : 0) }
        },
        .ofOutputs("output_ok", "Whether the output holds its current secret.", .gauge) { $0.state == .ok ? 1 : 0 },
        .ofResults("mints_total", "Secrets minted, and failed attempts.") { $0.counts.mints },
        .of("received_total", "Secrets received from the client's source.", .counter, ["client"]) { snapshot in
            snapshot.clients.filter { $0.source != nil }.map { ([$0.name.description], Int64($0.counts.received)) }
        },
        .ofResults("publishes_total", "Writes of files that hold an output.") { $0.counts.publishes },
        .ofResults("deliveries_total", "Runs of actions that reported the secret.") { $0.counts.deliveries },
        .ofClients("consecutive_failures", "Attempts that failed in a row.") { Int64($0.consecutiveFailures) },
        // Those of a client that is ok wait for their turn.
        .ofClients("deliveries_pending", "Actions that have not succeeded for the current secret, and should have.") {
            Int64($0.health == .ok ? 0 : $0.actions.count { $0.state != .ok })
        },
        .ofOutputs("drift_repairs_total", "How often drift was repaired.", .counter) {
            Int64($0.repairs)
        },
        .of("state", "The state of the whole daemon: one of them is 1.", .gauge, ["state"]) { snapshot in
            HealthState.allCases.map { ([$0.rawValue], $0 == snapshot.health ? 1 : 0) }
        },
        .of("config_last_reload_successful", "Whether the configuration file on disk would be accepted.") {
            [([], $0.configuration.error == nil ? 1 : 0)]
        },
        .of("clock_trusted", "Whether the clock is trusted.") { [([], $0.clockTrusted ? 1 : 0)] },
        .ofStore("store_reachable", "Whether the store answered when it was last asked.", .gauge) {
            [([], $0.isReachable ? 1 : 0)]
        },
        .ofStore("store_last_contact_timestamp_seconds", "When the store last answered.", .gauge) {
            [([], $0.lastContactAt?.secondsSinceEpoch ?? 0)]
        },
        .ofStore(
            "store_certificate_expiry_timestamp_seconds",
            "When the certificate expires with which this machine reaches the store.", .gauge
        ) {
            [([], $0.certificateExpiresAt?.secondsSinceEpoch ?? 0)]
        },
        .ofStore("store_requests_total", "Reads of the store and puts into it.", .counter, ["operation", "result"]) {
            [
                (["read", "success"], Int64($0.reads.successes)), (["read", "failure"], Int64($0.reads.failures)),
                (["put", "success"], Int64($0.puts.successes)), (["put", "failure"], Int64($0.puts.failures)),
            ]
        },
        .ofStore("store_conflicts_total", "Puts that found something else than was last seen there.", .counter) {
            [([], Int64($0.conflicts))]
        },
        .ofStore(
            "store_rejected_total", "Values in the store that no configured key has signed for the client.", .counter
        ) {
            [([], Int64($0.rejected))]
        },
        .of("fleet_hosts", "Machines by what they report of the client.", .gauge, ["client", "state"]) { snapshot in
            snapshot.fleet.sorted { $0.key < $1.key }.flatMap { name, counts in
                FleetCounts.State.allCases.map { ([name.description, $0.rawValue], Int64(counts[$0])) }
            }
        },
        .of(
            "rollout_admitted_ratio", "The part of the machines that may deliver the client's secret.", .gauge,
            ["client"]
        ) { snapshot in
            snapshot.rollouts.sorted { $0.key < $1.key }.map { ([$0.description], $1.share) }
        },
        .of("client_info", "The kind of the client's tokens.", .gauge, ["client", "kind"]) { snapshot in
            snapshot.clients.map { ([$0.name.description, $0.clientID.kind.rawValue], 1) }
        },
        .of("build_info", "The version that runs.", .gauge, ["version"]) { [([$0.version], 1)] },
    ]
}

/// One metric: a family of samples that are computed from a subject.
struct Metric<Subject>: Sendable {
    enum Kind: String {
        case gauge
        case counter
    }

    /// The values of a sample's labels, and its own value as the format writes it.
    typealias Sample = (labels: [String], value: String)

    let name: String
    let help: String
    let kind: Kind
    /// The names of the labels of each sample.
    let labels: [String]
    /// Without any the metric is left out.
    let samples: @Sendable (Subject) -> [Sample]

    static func text(_ metrics: [Metric], of subject: Subject) -> String {
        var text = ""
        for metric in metrics {
            let samples = metric.samples(subject)
            if samples.isEmpty { continue }
            text += "# HELP \(metric.name) \(metric.help)\n# TYPE \(metric.name) \(metric.kind.rawValue)\n"
            for sample in samples {
                let list = zip(metric.labels, sample.labels).map { "\($0)=\"\(escaped($1))\"" }.joined(separator: ",")
                text += metric.name + (list.isEmpty ? "" : "{\(list)}") + " \(sample.value)\n"
            }
        }
        return text
    }

    private static func escaped(_ value: String) -> String {
        var text = ""
        for character in value.unicodeScalars {
            switch character {
            case "\\": text += "\\\\"
            case "\"": text += "\\\""
            case "\n": text += "\\n"
            default: text.unicodeScalars.append(character)
            }
        }
        return text
    }
}

extension Metric<Snapshot> {
    fileprivate static func of(
        _ name: String, _ help: String, _ kind: Kind = .gauge, _ labels: [String] = [],
        _ samples: @escaping @Sendable (Snapshot) -> [([String], some CustomStringConvertible & Sendable)]
    ) -> Metric {
        Metric(name: "clientsecretd_" + name, help: help, kind: kind, labels: labels) {
            samples($0).map { ($0, $1.description) }
        }
    }

    /// Left out if there is no store.
    fileprivate static func ofStore(
        _ name: String, _ help: String, _ kind: Kind, _ labels: [String] = [],
        _ samples: @escaping @Sendable (StoreView) -> [([String], Int64)]
    ) -> Metric {
        .of(name, help, kind, labels) { $0.store.map(samples) ?? [] }
    }

    /// A gauge with one sample for each client.
    fileprivate static func ofClients(
        _ name: String, _ help: String, _ value: @escaping @Sendable (ClientView) -> Int64
    ) -> Metric {
        .of(name, help, .gauge, ["client"]) { $0.clients.map { ([$0.name.description], value($0)) } }
    }

    /// Several samples for each client, told apart by one more label.
    fileprivate static func ofClients(
        _ name: String, _ help: String, _ kind: Kind = .gauge, by label: String,
        _ samples: @escaping @Sendable (ClientView) -> [(String, Int64)]
    ) -> Metric {
        .of(name, help, kind, ["client", label]) { snapshot in
            snapshot.clients.flatMap { client in samples(client).map { ([client.name.description, $0], $1) } }
        }
    }

    /// A counter with two samples for each client: attempts that succeeded, and attempts that failed.
    fileprivate static func ofResults(
        _ name: String, _ help: String, _ value: @escaping @Sendable (ClientView) -> Tally
    ) -> Metric {
        .ofClients(name, help, .counter, by: "result") { client in
            let tally = value(client)
            return [("success", Int64(tally.successes)), ("failure", Int64(tally.failures))]
        }
    }

    /// One sample for each file of each client. Two variables of one file have the same path, so they share one sample:
    /// the worse one. A place behind an API has `push:` and its name for a path.
    fileprivate static func ofOutputs(
        _ name: String, _ help: String, _ kind: Kind, _ value: @escaping @Sendable (OutputView) -> Int64
    ) -> Metric {
        .ofClients(name, help, kind, by: "path") { client in
            var places: Set<String> = []
            return client.outputs.map(\.place).filter { places.insert($0).inserted }.map { place in
                let values = client.outputs.filter { $0.place == place }.map(value)
                return (place, (kind == .gauge ? values.min() : values.max()) ?? 0)
            }
        }
    }
}
