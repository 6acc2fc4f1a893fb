import Foundation

/// The stand-in for Apple (Tests/Support/apple), running on loopback with keys and certificates of its own, until this value
/// is released.
package final class StandIn {
    package let directory: TemporaryDirectory
    /// `https://127.0.0.1:PORT`.
    package let address: String
    private let process: Background

    /// Where its scripts are.
    package static let scripts = repository + "/Tests/Support/apple"

    /// Keys and certificates, which take a second to make: for all tests once.
    private static let made: Result<TemporaryDirectory, any Error> = Result {
        let directory = try TemporaryDirectory()
        let program =
            "import certificates, identity, pathlib as p; d = p.Path('\(directory.path)'); "
            + "certificates.server(d, 'good'); identity.key(d, identity.FORMER); identity.key(d, identity.CURRENT)"
        try runToSuccess([python, "-c", program], directory: scripts)
        return directory
    }

    /// - Parameters:
    ///   - keys: `KEY_ID:TEAM_ID:PEM`, as the stand-in takes them.
    ///   - clients: `CLIENT_ID:TEAM_ID[:RETURN_URL]`.
    package init(keys: [String] = [], clients: [String] = [], _ more: [String] = []) throws {
        directory = try TemporaryDirectory()
        let made = try Self.made.get()
        for name in try FileManager.default.contentsOfDirectory(atPath: made.path) {
            try FileManager.default.copyItem(atPath: made(name), toPath: directory(name))
        }
        process = try Background(
            [python, Self.scripts + "/stand-in.py", directory.path, "--until-input-ends"]
                + keys.flatMap { ["--key", $0] } + clients.flatMap { ["--client", $0] } + more)
        // It says where it listens once it does.
        address = process.firstLine
        guard address.hasPrefix("https://") else { throw TestFailure("the stand-in did not start") }
    }

    /// The authority that its certificate is signed by.
    package var authority: String { directory("ca.pem") }

    /// Of ``address``.
    package var port: String { String(address.split(separator: ":").last ?? "") }

    /// Tells it what to do from the next request on.
    package func order(_ orders: String...) throws {
        try directory.write(orders.joined(separator: "\n"), to: "orders")
    }

    /// Sets its clock, in seconds from this machine's.
    package func setClock(_ seconds: Int) throws {
        try directory.write(String(seconds), to: "clock")
    }

    /// What it has answered so far, in truth: `path answer`, and `: why` where something was wrong.
    package func log() throws -> [String] {
        guard FileManager.default.fileExists(atPath: directory("log")) else { return [] }
        return try directory.read("log").split(separator: "\n").map { line in
            let entry = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] ?? [:]
            let why = (entry["why"] as? String).map { ": \($0)" } ?? ""
            return "\(entry["path"] ?? "") \(entry["answer"] ?? "")\(why)"
        }
    }

    /// Identity tokens of every kind that Tests/Support/apple/identity.py knows.
    package func identityTokens(client: String, nonce: String) throws -> [String: String] {
        let made = try runToSuccess([python, Self.scripts + "/identity.py", directory.path, client, nonce])
        return try JSONSerialization.jsonObject(with: Data(made.utf8)) as? [String: String] ?? [:]
    }
}
