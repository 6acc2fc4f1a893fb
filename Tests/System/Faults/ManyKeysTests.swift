import Foundation
import TestSupport
import Testing

/// A key for each client, as a service with many customers has them. All keys lie in one piece of locked memory.
@Suite(.waits, .needs(.release)) struct ManyKeysTests {
    private static let count = 1200
    private let sandbox: Sandbox

    init() throws {
        sandbox = try Sandbox()
        let key = try sandbox.directory.read("keys/AuthKey_ABC123DEFG.p8")
        var keys = "keys:\n"
        var clients = "clients:\n"
        for number in 0..<Self.count {
            let file = "keys/AuthKey_K\(100_000_000 + number).p8"
            try sandbox.directory.write(key, to: file, mode: 0o600)
            keys += "  k\(number): {team_id: DEF123GHIJ, file: \(sandbox.directory(file))}\n"
            let output = sandbox.directory("out/c\(number).jwt")
            clients +=
                "  c\(number): {client_id: com.example.c\(number), key: k\(number), outputs: [{path: \(output)}]}\n"
        }
        try sandbox.directory.write("state_dir: \(sandbox.state)\n" + keys + clients, to: "clientsecretd.yaml")
    }

    private var published: Int {
        get throws { try FileManager.default.contentsOfDirectory(atPath: sandbox.directory("out")).count }
    }

    @Test func eachIsServed() throws {
        let once = try sandbox.command("run", "--once")
        #expect(once.status == 0, "\(once.complaints.suffix(500))")
        #expect(try published == Self.count)
    }

    /// Where little memory may be locked. Signing needs some of it too.
    @Test func thoseThatDoNotFitKeepNoOtherFromSigning() throws {
        let once = try run(
            [
                "sh", "-c", "ulimit -l 64 && exec \"$0\" \"$@\"", sandbox.binary, "run", "--once",
            ], environment: sandbox.environment)
        #expect(once.status == 1)
        #expect(
            once.complaints.contains(
                "the memory for private keys is full; raise LimitMEMLOCK= of the daemon's unit to 256K"))
        let refused = once.complaints.split(separator: "\n").count {
            $0.contains("the memory for private keys is full")
        }
        let published = try published
        #expect(published > 300)
        #expect(published + refused >= Self.count, "\(published) and \(refused)")
    }
}
