import Foundation
import TestSupport
import Testing

/// A role sends secrets only where the daemon means them to go, whatever was written into the configuration since.
@Suite struct RoleConfigurationTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    /// The answer of a role that systemd passed these texts of the configuration: the current one, and the last good one.
    private func answer(
        _ arguments: [String], _ request: String, to current: String, keeping kept: String
    ) throws -> [String: Any] {
        try directory.write(current, to: "clientsecretd.yaml")
        let copy: [String: Any] = [
            "version": 1, "configuration": "/etc/clientsecretd/clientsecretd.yaml", "text": kept,
            "additions": [String](),
        ]
        let json = try JSONSerialization.data(withJSONObject: copy)
        try directory.write(String(decoding: json, as: UTF8.self), to: "adopted.json")
        let finished = try run(
            [Binaries.network] + arguments, input: Data((request + "\n").utf8),
            environment: ["CREDENTIALS_DIRECTORY": directory.path])
        return try object(finished.output)
    }

    /// Each store names a file that is missing, so that the answer shows which one was read.
    private func store(_ port: Int) -> String {
        "store: {endpoints: [\"https://127.0.0.1:\(port)\"], ca_file: \(directory("\(port).pem"))}\n"
    }

    @Test(arguments: [
        (#","store":"https://127.0.0.1:1""#, 1), (#","store":"https://127.0.0.1:2""#, 2), ("", 2),
    ])
    func theStoreIsTheOneThatTheDaemonMeans(member: String, port: Int) throws {
        let request = #"{"do":"read","keys":["secret/DEF123GHIJ/com.example.web/0123456789abcdef"]\#(member)}"#
        let found = try answer(["store"], request, to: store(2), keeping: store(1))
        #expect(found["code"] as? String == "store_file_unusable", "\(found)")
        #expect(found["detail"] as? String == "\(directory("\(port).pem")): no such file or directory")
    }

    @Test func aStoreThatTheDaemonDoesNotMeanIsNotAsked() throws {
        let request =
            #"{"do":"read","keys":["secret/DEF123GHIJ/com.example.web/0123456789abcdef"],"store":"https://127.0.0.1:3"}"#
        let found = try answer(["store"], request, to: store(2), keeping: store(1))
        #expect(found["code"] as? String == "store_unconfigured", "\(found)")
        let detail = try #require(found["detail"] as? String)
        #expect(detail.contains("names another store"), "\(detail)")
    }

    /// A secret of the right form.
    private static let secret = "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJ3ZWIifQ." + String(repeating: "A", count: 86)

    @Test(arguments: [
        (#"{"do":"redeploy","places":{"a":"0"}}"#, "a"),
        (#"{"do":"publish","client_secret":"\#(secret)","places":{"a":"0"}}"#, "a"),
        // Another field of the same document, which is written along.
        (#"{"do":"publish","client_secret":"\#(secret)","others":{"b":"\#(secret)"},"places":{"b":"0"}}"#, "b"),
    ])
    func aTargetThatLeadsElsewhereGetsNothing(request: String, name: String) throws {
        try directory.write("token", to: "token")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: directory("token"))
        let place = "kind: vault, endpoint: \"http://127.0.0.1:1\", path: apps/web, token_file: \(directory("token"))"
        let text = "targets: {a: {\(place), field: a}, b: {\(place), field: b}}\n"
        let found = try answer(["push", "a"], request, to: text, keeping: text)
        #expect(found["code"] as? String == "push_target_unknown", "\(found)")
        let detail = try #require(found["detail"] as? String)
        #expect(detail.hasPrefix("\(name) leads elsewhere in "), "\(detail)")
    }
}
