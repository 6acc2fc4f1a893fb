import Foundation
import TestSupport
import Testing

extension Sandbox {
    /// Says whose key signed each of `tokens`, whatever the time is, and fails for one that none did.
    ///
    /// - Returns: for each token the index of its key.
    func signers(of tokens: [String], among keys: [String]) throws -> [Int] {
        let script = """
            import sys, jwt
            from cryptography.hazmat.primitives.serialization import load_pem_private_key
            keys = [load_pem_private_key(open(path, 'rb').read(), None).public_key() for path in sys.argv[1:]]
            timeless = {'verify_exp': False, 'verify_iat': False}
            def signer(token):
                for index, key in enumerate(keys):
                    try:
                        jwt.decode(token, key, ['ES256'], audience='https://appleid.apple.com', options=timeless)
                        return index
                    except jwt.InvalidSignatureError:
                        pass
            for token in sys.stdin.read().splitlines():
                print(signer(token))
            """
        let said = try runToSuccess([python, "-c", script] + keys, input: Data(tokens.joined(separator: "\n").utf8))
        let signers = try said.split(separator: "\n").map { try #require(Int($0), "signed by no key: \($0)") }
        try #require(signers.count == tokens.count)
        return signers
    }

    /// The document of status about one client.
    func client(named name: String) throws -> [String: Any] {
        let clients = try #require(try status()["clients"] as? [[String: Any]])
        return try #require(clients.first { $0["name"] as? String == name })
    }

    /// The state of a client's outputs, in their order, with the words of what is wrong.
    func outputs(of name: String) throws -> [(state: String, error: String)] {
        let outputs = try #require(try client(named: name)["outputs"] as? [[String: Any]])
        return outputs.map { (state: $0["state"] as? String ?? "", error: $0["error"] as? String ?? "") }
    }

    /// Waits until nothing at all is wrong.
    func recovers(_ after: String) throws {
        try eventually("recovery after \(after)", isWell)
    }

    /// Whether all is published and delivered, and nothing is wrong but that a test has put another key in the old one's place,
    /// which is said for a day.
    func isWell() throws -> Bool {
        func isWell(_ view: [String: Any]) -> Bool {
            view["state"] as? String == "ok" || (view["failure"] as? [String: Any])?["code"] as? String == "key_changed"
        }
        let status = try status()
        let clients = status["clients"] as? [[String: Any]] ?? []
        let outputs = clients.flatMap { $0["outputs"] as? [[String: Any]] ?? [] }
        return isWell(status) && clients.allSatisfy { isWell($0) && $0["delivered"] as? Bool == true }
            && outputs.allSatisfy { $0["state"] as? String == "ok" }
    }

    /// A client with one output at `path`: a raw one, or a variable of an environment file.
    func client(_ name: String, at path: String, variable: String? = nil) -> String {
        "  \(name):\n    client_id: com.example.\(name)\n    outputs:\n      - path: \(path)\n"
            + (variable.map { "        format: env\n        variable: \($0)\n" } ?? "")
    }

    /// Gives the running daemon another limit of descriptors.
    func limitDescriptors(to count: Int) throws {
        try runToSuccess(["prlimit", "--pid", "\(try #require(processID))", "--nofile=\(count):"])
    }

    func text(_ path: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
    }

    /// Begins a command that may not come back; what it says goes nowhere.
    func begin(_ arguments: String...) throws -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: binary)
        process.arguments = arguments + ["--socket", socket]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        return process
    }
}
