import Monitoring
import Rotation
import Testing

struct MetricsTests {
    @Test func textIsTheContracts() throws {
        var snapshot = try Samples.snapshot()
        snapshot.configuration.error = "c.yaml:1:1: error: a"
        expectSame(
            MetricsText.render(snapshot, version: "0.1.0\"\\\n"),
            """
            # HELP clientsecretd_secret_issued_timestamp_seconds When the current secret was issued (iat).
            # TYPE clientsecretd_secret_issued_timestamp_seconds gauge
            clientsecretd_secret_issued_timestamp_seconds{client="api"} 0
            clientsecretd_secret_issued_timestamp_seconds{client="web"} 1794992800
            # HELP clientsecretd_secret_expiry_timestamp_seconds When the current secret expires.
            # TYPE clientsecretd_secret_expiry_timestamp_seconds gauge
            clientsecretd_secret_expiry_timestamp_seconds{client="api"} 0
            clientsecretd_secret_expiry_timestamp_seconds{client="web"} 1802768860
            # HELP clientsecretd_secret_delivered_expiry_timestamp_seconds When the secret that applications were last told of expires.
            # TYPE clientsecretd_secret_delivered_expiry_timestamp_seconds gauge
            clientsecretd_secret_delivered_expiry_timestamp_seconds{client="api"} 0
            clientsecretd_secret_delivered_expiry_timestamp_seconds{client="web"} 1802768860
            # HELP clientsecretd_secret_renewal_timestamp_seconds When the current secret is renewed.
            # TYPE clientsecretd_secret_renewal_timestamp_seconds gauge
            clientsecretd_secret_renewal_timestamp_seconds{client="api"} 0
            clientsecretd_secret_renewal_timestamp_seconds{client="web"} 1800176800
            # HELP clientsecretd_secret_ok Whether the client's state is ok.
            # TYPE clientsecretd_secret_ok gauge
            clientsecretd_secret_ok{client="api"} 0
            clientsecretd_secret_ok{client="web"} 1
            # HELP clientsecretd_output_ok Whether the output holds its current secret.
            # TYPE clientsecretd_output_ok gauge
            clientsecretd_output_ok{client="api",path="/srv/app/.env"} 0
            clientsecretd_output_ok{client="web",path="/run/clientsecretd/out/web.jwt"} 1
            # HELP clientsecretd_consecutive_failures Attempts that failed in a row.
            # TYPE clientsecretd_consecutive_failures gauge
            clientsecretd_consecutive_failures{client="api"} 2
            clientsecretd_consecutive_failures{client="web"} 0
            # HELP clientsecretd_deliveries_pending Actions that have not succeeded for the current secret.
            # TYPE clientsecretd_deliveries_pending gauge
            clientsecretd_deliveries_pending{client="api"} 1
            clientsecretd_deliveries_pending{client="web"} 0
            # HELP clientsecretd_state The state of the whole daemon: one of them is 1.
            # TYPE clientsecretd_state gauge
            clientsecretd_state{state="ok"} 0
            clientsecretd_state{state="degraded"} 1
            clientsecretd_state{state="critical"} 0
            # HELP clientsecretd_config_last_reload_successful Whether the configuration that lies there is the one in force.
            # TYPE clientsecretd_config_last_reload_successful gauge
            clientsecretd_config_last_reload_successful 0
            # HELP clientsecretd_clock_trusted Whether the clock is trusted.
            # TYPE clientsecretd_clock_trusted gauge
            clientsecretd_clock_trusted 1
            # HELP clientsecretd_build_info The version that runs.
            # TYPE clientsecretd_build_info gauge
            clientsecretd_build_info{version="0.1.0\\"\\\\\\n"} 1

            """)
    }
}
