import Foundation
import TestSupport
import Testing

/// An operator's place: a key, a configuration with a published secret, and the real programs.
final class Operator {
    let directory: TemporaryDirectory
    let binary = Binaries.daemon
    static let team = "DEF123GHIJ"
    static let keyID = "ABC123DEFG"
    static let client = "com.example.web"
    static let returnURL = "https://example.com/callback"

    var configuration: String { directory("clientsecretd.yaml") }
    var secretFile: String { directory("web.jwt") }
    var keyFile: String { directory("AuthKey_\(Self.keyID).p8") }

    init() throws {
        directory = try TemporaryDirectory()
        try makeKey(at: keyFile)
        try publish()
    }

    /// Makes a key in Apple's form; its public half lies beside it.
    func makeKey(at path: String) throws {
        try runToSuccess([
            "sh", "-c",
            """
            umask 077
            openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out '\(path)' &&
            openssl pkey -in '\(path)' -pubout -out '\(path).pub'
            """,
        ])
    }

    /// Writes a configuration with one client, and a secret of its into its output.
    func publish(
        keyFile: String? = nil, keyID: String = keyID, team: String = team, client: String = client,
        lifetime: String = "90d"
    ) throws {
        let key = keyFile ?? self.keyFile
        try directory.write(
            """
            keys: {apple: {team_id: \(team), key_id: \(keyID), file: \(key)}}
            clients: {web: {client_id: \(client), outputs: [{path: \(secretFile)}]}}
            """, to: "clientsecretd.yaml")
        try mint(keyFile: key, keyID: keyID, team: team, client: client, lifetime: lifetime)
    }

    /// Mints a secret into a file, which is the client's output unless it is named.
    func mint(
        keyFile: String? = nil, keyID: String = keyID, team: String = team, client: String = client,
        lifetime: String = "90d", to file: String = "web.jwt"
    ) throws {
        let minted = try clientsecretd(
            "mint", "--key", keyFile ?? self.keyFile, "--key-id", keyID, "--team-id", team, "--client-id", client,
            "--lifetime", lifetime)
        try #require(minted.status == 0, "\(minted.complaints)")
        try directory.write(minted.output, to: file)
    }

    /// The program in a directory of its own, with a shell script as the program that asks Apple beside it.
    func besideScript(_ script: String) throws -> TemporaryDirectory {
        let directory = try TemporaryDirectory()
        try copyProgram(binary, to: directory("clientsecretd"))
        let path = try directory.write("#!/bin/sh\n" + script, to: "clientsecretd-network")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        return directory
    }

    /// A stand-in that knows this key and this client.
    func standIn(_ more: String...) throws -> StandIn { try standIn(more) }

    func standIn(_ more: [String]) throws -> StandIn {
        try StandIn(
            keys: ["\(Self.keyID):\(Self.team):\(keyFile).pub"],
            clients: ["\(Self.client):\(Self.team):\(Self.returnURL)"], more)
    }

    /// Runs a command of clientsecretd.
    func clientsecretd(
        _ arguments: String..., input: String = "", environment: [String: String] = [:]
    ) throws -> Finished {
        try clientsecretd(arguments, input: input, environment: environment)
    }

    private func clientsecretd(
        _ arguments: [String], input: String, environment: [String: String]
    ) throws -> Finished {
        try run(
            [binary] + arguments, input: Data(input.utf8),
            environment: ["CLIENTSECRETD_CONFIG": configuration, "LC_ALL": "C.UTF-8"].merging(environment) { $1 })
    }

    /// Runs a command that asks this stand-in.
    func ask(
        _ apple: StandIn, _ arguments: String..., input: String = "", environment: [String: String] = [:]
    ) throws -> Finished {
        try clientsecretd(
            arguments + ["--endpoint", apple.address, "--ca-file", apple.authority], input: input,
            environment: environment)
    }
}

/// A JSON document's object.
func object(_ text: String) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any], "\(text)")
}
