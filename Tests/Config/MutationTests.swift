import Fuzzing
import Rotation
import TestSupport
import Testing

@testable import Config

/// Whatever becomes of a good configuration, reading it ends in a configuration or in diagnostics that point into it: the
/// promises are those of the fuzzer.
@Suite struct MutationTests {
    private static let good = """
        keys:
          apple: {team_id: DEF123GHIJ, key_id: ABC123DEFG, file: /etc/k/key.p8, passphrase_file: "/etc/k/pass"}
        defaults:
          lifetime: 90d   # a comment
          renew_before: 30d
        clients:
          web:
            client_id: com.example.web
            key: apple
            outputs:
              - path: /run/out/web.jwt
                mode: "0640"
                group: www-data
              - {path: /run/out/web.env, format: env, variable: APPLE_CLIENT_SECRET}
            on_change:
              - restart: myapp.service
              - exec: [/usr/local/bin/after-rotation, --quiet]
                timeout: 30s
              - signal: {unit: a.service, signal: SIGHUP}
            verify: true
            credential: {unit: myapp.service, name: apple-client-secret}
        on_state_change:
          - start: notice@%s.service
        control_group: control
        state_dir: /var/lib/clientsecretd
        metrics_file: /srv/m.prom

        """

    /// Pieces that mean something to YAML or to the settings.
    private static let pieces: [[UInt8]] =
        [
            "\n", " ", "  ", "\t", ":", ": ", "- ", "-", "[", "]", "{", "}", ",", "\"", "'", "#", "&a", "*a", "!t ",
            "|", ">",
            "? ", "---\n", "...\n", "%YAML 1.1\n", "\\", "\r\n", "\u{FEFF}", "ä", "日", "\u{85}", "\u{2028}", "~",
            "null", "max",
            "0", "-1", "9999999999999999999", "/", "/..", "%s", "@", "<<: ", "key", "path: /run/out/web.jwt\n",
            "clients:\n",
        ].map { Array($0.utf8) } + [[0], [0xFF], [0xC3], [0xED, 0xA0, 0x80], [0x1B]]

    @Test func endsInAConfigurationOrInDiagnosticsThatPointIntoIt() throws {
        var random = SeededGenerator()
        let good = Array(Self.good.utf8)
        #expect(throws: Never.self) { try ConfigurationParser.parse(main: source(good)).get() }
        var refused = 0
        for round in 0..<4000 {
            var bytes = good
            for _ in 0..<Int.random(in: 1...6, using: &random) { mutate(&bytes, &random) }
            #expect(throws: Never.self, "seed \(random.seed), round \(round)") {
                try FuzzTarget.configuration.run(bytes)
            }
            if case .failure = ConfigurationParser.parse(main: try source(bytes)) { refused += 1 }
        }
        // Most changes break something: a test that never meets a mistake would prove nothing.
        #expect(refused > 2000, "seed \(random.seed)")
    }

    private func source(_ bytes: [UInt8]) throws -> SourceFile {
        SourceFile(name: "c.yaml", path: try #require(AbsolutePath("/etc/c.yaml")), bytes: bytes)
    }

    private func mutate(_ bytes: inout [UInt8], _ random: inout SeededGenerator) {
        let place = Int.random(in: 0...bytes.count, using: &random)
        let length = min(bytes.count - place, Int.random(in: 0...12, using: &random))
        switch Int.random(in: 0...5, using: &random) {
        case 0: bytes.removeSubrange(place..<place + length)
        case 1: bytes.insert(contentsOf: Self.pieces.randomElement(using: &random) ?? [], at: place)
        case 2:
            bytes.insert(
                contentsOf: Array(bytes[place..<place + length]), at: Int.random(in: 0...bytes.count, using: &random))
        case 3: bytes.replaceSubrange(place..<place + length, with: Self.pieces.randomElement(using: &random) ?? [])
        case 4: if place < bytes.count { bytes[place] = UInt8.random(in: 0...255, using: &random) }
        default: bytes.removeSubrange(Int.random(in: max(0, bytes.count - 200)...bytes.count, using: &random)...)
        }
    }
}
