import Foundation
import TestSupport
import Testing

/// A sandbox with what a daemon with `verify: true` needs: the program that asks, and a stand-in for Apple that knows the
/// clients `web` and `api` and two keys, of which the configuration names the first.
final class VerifyingSandbox {
    let sandbox: Sandbox
    let apple: StandIn
    private var service: Background?

    init() throws {
        sandbox = try Sandbox()
        var keys: [String] = []
        for id in ["ABC123DEFG", "XYZ123DEFG"] {
            let path = Self.key(id, in: sandbox)
            if path != sandbox.key { try sandbox.makeKey(at: path) }
            let publicHalf = sandbox.directory("\(id).pub")
            let made = try run(["openssl", "pkey", "-in", path, "-pubout", "-out", publicHalf])
            try #require(made.status == 0, "\(made.complaints)")
            keys.append("\(id):DEF123GHIJ:\(publicHalf)")
        }
        apple = try StandIn(keys: keys, clients: ["web", "api"].map { "com.example.\($0):DEF123GHIJ" })
        try configure()
    }

    private static func key(_ id: String, in sandbox: Sandbox) -> String {
        sandbox.directory("keys/AuthKey_\(id).p8")
    }

    /// Has both clients' secrets be tried, and be signed with this key.
    func configure(keyID: String = "ABC123DEFG") throws {
        try sandbox.configure(
            sandbox.client("web", more: "    verify: true") + sandbox.client("api", more: "    verify: true"))
        let text = try sandbox.directory.read("clientsecretd.yaml")
        try sandbox.directory.write(
            text.replacingOccurrences(of: sandbox.key, with: Self.key(keyID, in: sandbox)), to: "clientsecretd.yaml")
    }

    /// Starts to listen for the daemon, beside its status socket.
    func serve() throws {
        let program = URL(fileURLWithPath: sandbox.binary).deletingLastPathComponent().path + "/clientsecretd-network"
        try #require(FileManager.default.isExecutableFile(atPath: program), "build \(program) first: make build")
        let service = try Background([
            "/usr/bin/python3", repository + "/Tests/Support/accept.py", sandbox.directory("verify.sock"), program,
            "verify", "--endpoint", apple.address, "--ca-file", apple.authority,
        ])
        try #require(service.firstLine == "listening")
        self.service = service
    }

    /// Starts the service and the daemon, and waits until Apple has accepted both clients' first secrets.
    func settle(under wrapper: [String] = []) throws {
        try serve()
        try sandbox.start(under: wrapper)
        for name in ["web", "api"] { try awaitVerdict("accepted", on: name) }
        sandbox.awaitNextSecond()
    }

    /// How many questions the stand-in was asked.
    func questions() throws -> Int { try apple.log().count }

    func published(_ name: String) throws -> String { try sandbox.directory.read("out/\(name).jwt") }

    func client(_ name: String) throws -> [String: Any] {
        let clients = try #require(try sandbox.status()["clients"] as? [[String: Any]])
        return try #require(clients.first { $0["name"] as? String == name })
    }

    /// What the status says of Apple's last verdict on a client's secret; nil where Apple was not asked.
    func verification(_ name: String) throws -> [String: Any]? {
        try client(name)["verification"] as? [String: Any]
    }

    func awaitVerdict(_ verdict: String, on name: String) throws {
        try sandbox.eventually("the verdict \(verdict)") {
            try verification(name)?["verdict"] as? String == verdict
        }
    }
}
