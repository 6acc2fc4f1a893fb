import AppleClientSecret
import Model
import TestSupport
import Testing

@testable import Config

/// The contract's example, with every setting that there is.
private let example = """
    keys:
      apple:
        team_id: DEF123GHIJ
        key_id: ABC123DEFG                # may be left out when the file is called AuthKey_<KEYID>.p8
        file: /etc/clientsecretd/AuthKey_ABC123DEFG.p8

    defaults:                              # any client setting but client_id
      lifetime: 90d
      renew_before: 30d

    clients:
      web:                                 # a name for people; letters, digits, '.', '-', '_'
        client_id: com.example.web         # Services ID (web) or App ID (native); defaults to the name
        key: apple                         # may be left out when there is one key
        lifetime: 90d                      # default; 60 s to 15776700 s, Apple's limit less a margin; 'max' means that
        renew_before: 30d                  # default: a third of the lifetime; always less than it
        outputs:
          - path: /run/clientsecretd/out/web.jwt         # format: raw (default), the JWT and nothing else
            mode: "0640"
            group: www-data
          - path: /run/clientsecretd/out/web.env
            format: env                                  # sets one variable, keeps every other byte
            variable: APPLE_CLIENT_SECRET
          - path: /srv/app/.env                          # a file of somebody else's
            format: env
            variable: AUTH_APPLE_SECRET
            as: app                                      # written by a helper that runs as this user
          - path: /run/clientsecretd/out/web.json
            format: json
        on_change:
          - restart: myapp.service
          - exec: [/usr/local/bin/after-rotation, --quiet]
            timeout: 30s
        verify: true
        credential:
          unit: myapp.service
          name: apple-client-secret

    on_state_change:
      - start: clientsecretd-notice@%s.service
    control_group: clientsecretd-control
    state_dir: /var/lib/clientsecretd
    metrics_file: /var/lib/prometheus/node-exporter/clientsecretd.prom
    trusted_directories: [/secrets]
    """

@Suite struct ExampleTests {
    @Test func meansWhatTheContractSays() throws {
        let loaded = try parse(example).get()
        let day: Int64 = 86_400
        let web = ClientConfiguration(
            clientID: try #require(ClientID("com.example.web")), key: try #require(KeyName("apple")),
            lifetime: try #require(Lifetime(seconds: Seconds(90 * day))), renewBefore: Seconds(30 * day),
            outputs: [
                Output(path: try path("/run/clientsecretd/out/web.jwt"), format: .raw, mode: 0o640, group: "www-data"),
                Output(
                    path: try path("/run/clientsecretd/out/web.env"), format: .env,
                    slot: .variable("APPLE_CLIENT_SECRET")),
                Output(
                    path: try path("/srv/app/.env"), format: .env, slot: .variable("AUTH_APPLE_SECRET"), owner: "app"),
                Output(path: try path("/run/clientsecretd/out/web.json"), format: .json),
            ],
            onChange: [
                .unit(verb: .restart, unit: "myapp.service"),
                .exec(arguments: ["/usr/local/bin/after-rotation", "--quiet"], timeout: 30),
            ],
            verify: true, credential: ServedCredential(unit: "myapp.service", name: "apple-client-secret"))
        let key = KeyConfiguration(
            team: try #require(TeamID("DEF123GHIJ")), keyID: try #require(KeyID("ABC123DEFG")),
            location: .file(try path("/etc/clientsecretd/AuthKey_ABC123DEFG.p8")))
        #expect(
            loaded.configuration
                == Configuration(
                    keys: [try #require(KeyName("apple")): key], clients: [try #require(ClientName("web")): web],
                    onStateChange: [.unit(verb: .start, unit: "clientsecretd-notice@%s.service")],
                    controlGroup: "clientsecretd-control", stateDirectory: try path("/var/lib/clientsecretd"),
                    metricsFile: try path("/var/lib/prometheus/node-exporter/clientsecretd.prom"),
                    trustedDirectories: [try path("/secrets")]))
        #expect(loaded.warnings.isEmpty)
        #expect(loaded.files == [try path("/etc/c.yaml")])
        #expect(loaded.directory == (try path("/etc/c.d")))
    }

    @Test func aPlainConfigurationHasTheDefaults() throws {
        let loaded = try parse(
            "keys: {a: {team_id: DEF123GHIJ, file: /AuthKey_12345E6789.p8}}\nclients: {b: {outputs: [{path: /c}]}}"
        ).get()
        let client = try #require(loaded.configuration.clients.values.first)
        #expect(client.clientID.description == "b")
        #expect(client.key.description == "a")
        #expect(client.lifetime.seconds == 7_776_000)
        #expect(client.renewBefore == 2_592_000)
        #expect(client.verify == false)
        #expect(client.outputs == [Output(path: try path("/c"), format: .raw)])
        // A scalar is the text that stands there, whatever number it looks like.
        #expect(loaded.configuration.keys.values.map(\.keyID.description) == ["12345E6789"])
        #expect(loaded.configuration.stateDirectory == nil)
    }

    @Test func defaultsFillWhatAClientLeavesOut() throws {
        let loaded = try parse(
            """
            keys:
              a: {team_id: DEF123GHIJ, key_id: 0000000001, credential: first, passphrase_credential: phrase}
              b: {team_id: DEF123GHIJ, key_id: 1234567890, credential: second, passphrase_file: /etc/phrase}
            defaults:
              key: b
              lifetime: max
              outputs: [{path: /run/default, mode: 640, group: 33}]
              on_change: [{signal: {unit: x.service, signal: SIGUSR1}}, {exec: [/bin/true, ""]}]
              verify: true
            clients:
              one: {lifetime: 1d12h, renew_before: 90m, outputs: [], verify: "false", credential: {unit: x.service, name: y}}
              two:
            """
        ).get()
        let one = try client("one", of: loaded)
        let two = try client("two", of: loaded)
        #expect(one.key.description == "b")
        #expect(one.lifetime.seconds == 129_600)
        #expect(one.renewBefore == 5400)
        #expect(one.outputs.isEmpty)
        #expect(!one.verify && two.verify)
        #expect(two.lifetime == .maximum)
        #expect(two.renewBefore == 5_258_900)
        #expect(two.outputs == [Output(path: try path("/run/default"), format: .raw, mode: 0o640, group: "33")])
        #expect(
            two.onChange == [
                .signal(unit: "x.service", signal: "SIGUSR1"), .exec(arguments: ["/bin/true", ""], timeout: 30),
            ])
        let name = try #require(KeyName("b"))
        let key = try #require(loaded.configuration.keys[name])
        #expect(key.location == .credential("second"))
        #expect(key.passphrase == .file(try path("/etc/phrase")))
    }

    /// A client of another kind does without what its kind has not.
    @Test func defaultsMaySayTheKindAndWhatRestrictsIt() throws {
        let loaded = try parse(
            """
            keys: {apple: {team_id: DEF123GHIJ, key_id: ABC123DEFG, file: /etc/k/key.p8}}
            defaults: {kind: maps, origin: https://www.example.com, scope: mapkit_js}
            clients:
              map: {outputs: [{path: /run/map}]}
              server: {scope: server_api, outputs: [{path: /run/server}]}
              player: {kind: music, outputs: [{path: /run/player}]}
              com.example.web: {kind: sign_in, outputs: [{path: /run/web}]}
            """
        ).get()
        let clients = loaded.configuration.clients.sorted { $0.key < $1.key }.map(\.value.clientID.description)
        #expect(
            clients == [
                "com.example.web", "maps:mapkit_js:https://www.example.com", "music:https://www.example.com",
                "maps:server_api:https://www.example.com",
            ])
    }

    private func client(_ text: String, of loaded: LoadedConfiguration) throws -> ClientConfiguration {
        let name = try #require(ClientName(text))
        return try #require(loaded.configuration.clients[name])
    }

    private func path(_ text: String) throws -> AbsolutePath {
        try #require(AbsolutePath(text))
    }
}
