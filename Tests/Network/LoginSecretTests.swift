import Foundation
import TestSupport
import Testing

/// What the network program logs in with is never a private key, and nothing is connected to before that is known.
@Suite struct LoginSecretTests {
    private let own: Operator

    init() throws { own = try Operator() }

    /// The answer of a role whose server does not exist.
    private func answer(_ arguments: [String], _ request: String, _ configuration: String) throws -> [String: Any] {
        let path = try own.directory.write(configuration, to: "network.yaml")
        let finished = try run(
            [Binaries.network] + arguments + ["--config", path], input: Data((request + "\n").utf8))
        return try object(finished.output)
    }

    /// The answer of the role that pushes to a target with these settings.
    private func push(_ settings: String) throws -> [String: Any] {
        try answer(
            ["push", "a"], #"{"do":"publish","client_secret":"\#(own.directory.read("web.jwt"))"}"#,
            "targets: {a: {\(settings)}}\n")
    }

    /// The answer of the role for a store with these settings.
    private func readStore(_ settings: String) throws -> [String: Any] {
        try answer(
            ["store"], #"{"do":"read","keys":["secret/DEF123GHIJ/com.example.web/0123456789abcdef"]}"#,
            #"store: {endpoints: ["https://127.0.0.1:1"], \#(settings)}"# + "\n")
    }

    /// The key as it is, in one line, its DER, and their base64.
    private func forms() throws -> [Data] {
        let pem = try Data(contentsOf: URL(fileURLWithPath: own.keyFile))
        let der = own.directory("key.der")
        #expect(try run(["openssl", "pkey", "-in", own.keyFile, "-outform", "DER", "-out", der]).status == 0)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: der))
        let line = String(decoding: pem, as: UTF8.self).replacingOccurrences(of: "\n", with: "")
        return [pem, Data(line.utf8), bytes, pem.base64EncodedData(), bytes.base64EncodedData()]
    }

    @Test func aTokenIsNoPrivateKey() throws {
        let file = own.directory("token")
        for form in try forms() {
            try form.write(to: URL(fileURLWithPath: file))
            for kind in [
                #"pocketbase, endpoint: "http://127.0.0.1:1", user: a@example.com"#, "supabase, project: a",
                #"http, url: "http://127.0.0.1:1/a", body: "{{client_secret}}", headers: {X-Key: "{{token}}"}"#,
            ] {
                let found = try push("kind: \(kind), token_file: \(file)")
                #expect(found["code"] as? String == "push_token_unusable", "\(found)")
                #expect(found["detail"] as? String == "\(file) holds a private key, which is never sent")
            }
        }
    }

    /// The reason is this machine's file, and no certificate of a server.
    @Test func aFileWithoutAuthoritiesIsNamed() throws {
        let file = own.directory("ca.pem")
        for (text, words) in [
            (nil, "\(file): no such file or directory"), ("no PEM\n", "\(file) holds no certificate in PEM"),
        ] {
            if let text { try text.write(toFile: file, atomically: true, encoding: .utf8) }
            let pushed = try push(
                #"kind: http, url: "http://127.0.0.1:1/a", body: "{{client_secret}}", ca_file: \#(file)"#)
            #expect(pushed["code"] as? String == "push_file_unusable", "\(pushed)")
            #expect(pushed["detail"] as? String == words)
            let asked = try readStore("ca_file: \(file)")
            #expect(asked["code"] as? String == "store_file_unusable", "\(asked)")
            #expect(asked["detail"] as? String == words)
        }
    }

    @Test func aPasswordIsNoPrivateKey() throws {
        let file = own.directory("password")
        for form in try forms() {
            try form.write(to: URL(fileURLWithPath: file))
            let found = try readStore("user: a, password_file: \(file)")
            #expect(found["code"] as? String == "store_file_unusable", "\(found)")
            #expect(found["detail"] as? String == "\(file) holds a private key, which is never sent")
        }
    }
}
