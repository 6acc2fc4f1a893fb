import Foundation
import TestSupport
import Testing

/// Clients with outputs of every format, two environment files that several of them share, and an application that
/// reads everything again whenever it is told.
final class KillStormFixture {
    let sandbox: Sandbox
    let clients: [String]
    private var usesOtherKey = false

    /// Who has a line in which environment file, and who has a document.
    static let environments = ["app.env": 0..<10, "other.env": 15..<20]
    static let documents = 10..<15
    /// Lines of somebody else's, in every environment file.
    static let before = ["# settings of the application", "PORT=80"]
    static let after = ["HOST=localhost", ""]

    init(clients count: Int) throws {
        sandbox = try Sandbox()
        clients = (0..<count).map { "client-\($0)" }
        for name in ["one", "other"] { try sandbox.makeKey(at: sandbox.directory("keys/\(name)")) }
        let hook = try sandbox.directory.write(
            """
            #!/bin/sh
            exec 9>"\(sandbox.directory("held.lock"))"
            flock 9
            cd "\(sandbox.directory("out"))"
            cat *.jwt *.json *.env > ../held.new 2>/dev/null
            mv ../held.new ../held

            """, to: "hook", mode: 0o700)
        try sandbox.configure(
            clients.indices.map(lines).joined(), others: "defaults:\n  on_change:\n    - exec: [\(hook)]")
        try wipe()
        try changeKey()
    }

    private func lines(_ index: Int) -> String {
        var text =
            "  \(clients[index]):\n    client_id: \(Self.id(of: clients[index]))\n    outputs:\n"
            + "      - path: \(output(clients[index] + ".jwt"))\n"
        for (file, members) in Self.environments where members.contains(index) {
            text += "      - path: \(output(file))\n        format: env\n        variable: \(Self.variable(index))\n"
        }
        if Self.documents.contains(index) {
            text += "      - path: \(output(clients[index] + ".json"))\n        format: json\n"
        }
        return text
    }

    static func id(of client: String) -> String { "com.example.\(client)" }
    static func variable(_ index: Int) -> String { "SECRET_\(index)" }
    func output(_ name: String) -> String { sandbox.directory("out/" + name) }

    // MARK: What happens to it

    /// As on the first day: no state, no outputs, environment files without secrets.
    func wipe() throws {
        let files = FileManager.default
        try files.removeItem(atPath: sandbox.state)
        try sandbox.makeDirectory("state")
        for name in try files.contentsOfDirectory(atPath: sandbox.directory("out")) where !name.hasSuffix(".env") {
            try files.removeItem(atPath: output(name))
        }
        for (file, members) in Self.environments {
            let text = (Self.before + members.map { Self.variable($0) + "=" } + Self.after).joined(separator: "\n")
            try sandbox.directory.write(text, to: "fresh.env")
            try #require(unsafe rename(sandbox.directory("fresh.env"), output(file)) == 0)
        }
    }

    /// The other of two keys takes the place of the one in use.
    func changeKey() throws {
        usesOtherKey.toggle()
        let next = sandbox.directory("keys/next")
        let name = usesOtherKey ? "keys/other" : "keys/one"
        try FileManager.default.copyItem(atPath: sandbox.directory(name), toPath: next)
        try #require(unsafe rename(next, sandbox.key) == 0)
    }

    /// Asks for new secrets and does not wait for them.
    func askForRenewal() throws {
        try StatusConnection(sandbox.socket).send(
            "POST /v1/renew HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n")
    }

    // MARK: What must be so

    /// Nobody is without a secret.
    func requireEveryFile() throws {
        let names = clients.map { $0 + ".jwt" } + clients[Self.documents].map { $0 + ".json" }
        for name in names { try #require(FileManager.default.fileExists(atPath: output(name)), "\(name)") }
        for name in Self.environments.keys { try #require(!sandbox.text(output(name)).contains("=\n"), "\(name)") }
    }

    /// Everybody has one secret everywhere, signed by the key in use, the application holds it, nothing else lies about.
    func expectPeace(comment: Comment) throws {
        try sandbox.recovers("\(comment)")
        var tokens: [String: Set<String>] = [:]
        var expected: [String] = []
        for client in clients { tokens[client] = [try sandbox.text(output(client + ".jwt"))] }
        for (file, members) in Self.environments {
            let lines = try sandbox.text(output(file)).components(separatedBy: "\n")
            let secrets = members.map { "\(Self.variable($0))=\(tokens[clients[$0]]?.first ?? "none")" }
            #expect(lines == Self.before + secrets + Self.after, comment)
        }
        for client in clients[Self.documents] {
            let document = try JSONDecoder().decode(
                [String: String].self, from: Data(try sandbox.text(output(client + ".json")).utf8))
            #expect(document["client_secret"] == tokens[client]?.first, comment)
        }
        try verify(tokens, by: [sandbox.key])
        // Records are written after what they say was done.
        try sandbox.expectNoLeftovers(comment)
        for name in try FileManager.default.contentsOfDirectory(atPath: sandbox.directory("out")).sorted() {
            expected.append(try sandbox.text(output(name)))
        }
        let names = ["jwt", "json", "env"].map { "out/*.\($0)" }.joined(separator: " ")
        let published = try run(["sh", "-c", "cat \(names)"], directory: sandbox.directory.path)
        #expect(try sandbox.directory.read("held") == published.output, comment)
        let known = try #require(try sandbox.status()["clients"] as? [[String: Any]])
        #expect(known.count == clients.count && known.allSatisfy { $0["delivered"] as? Bool == true }, comment)
    }

    /// Every token is one of the client that it was found at, and signed by one of the keys.
    func verify(_ tokens: [String: Set<String>], by keys: [String]? = nil) throws {
        let script = """
            import json, sys, jwt
            from cryptography.hazmat.primitives.serialization import load_pem_private_key
            keys = [load_pem_private_key(open(path, 'rb').read(), None).public_key() for path in sys.argv[1:]]
            def claims(token):
                for key in keys:
                    try:
                        return jwt.decode(token, key, algorithms=['ES256'], audience='https://appleid.apple.com')
                    except jwt.InvalidSignatureError:
                        pass
            for client, tokens in json.load(sys.stdin).items():
                for token in tokens:
                    found = claims(token)
                    assert found, f'{client}: signed by no key'
                    assert (found['sub'], found['iss']) == (client, 'DEF123GHIJ'), f'{client}: {found}'
            """
        let known = tokens.map { (Self.id(of: $0.key), Array($0.value)) }
        let judged = try run(
            [python, "-c", script] + (keys ?? [sandbox.directory("keys/one"), sandbox.directory("keys/other")]),
            input: try JSONEncoder().encode(Dictionary(uniqueKeysWithValues: known)))
        #expect(judged.status == 0, "\(judged.complaints)")
    }

    /// What was delivered is known over a restart: nothing is made anew, nobody told again.
    func expectNothingNewAfterARestart(comment: Comment) throws {
        let held = try identity("held")
        let files = try clients.map { try identity("out/\($0).jwt") }
        try sandbox.start()
        try expectPeace(comment: comment)
        #expect(sandbox.stop() == 0)
        #expect(try identity("held") == held, comment)
        #expect(try clients.map { try identity("out/\($0).jwt") } == files, comment)
    }

    /// Another one whenever the file is replaced.
    private func identity(_ name: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: sandbox.directory(name))
        return try #require(attributes[.systemFileNumber] as? Int)
    }
}
