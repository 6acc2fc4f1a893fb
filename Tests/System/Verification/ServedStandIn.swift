import Foundation
import TestSupport
import Testing

extension StandIn {
    /// Has the program that asks listen for a sandbox's daemon, beside its status socket, and ask this.
    func serve(_ sandbox: Sandbox) throws -> Background {
        let service = try Background([
            "/usr/bin/python3", repository + "/Tests/Support/accept.py", sandbox.directory("verify.sock"),
            Binaries.network, "verify", "--endpoint", address, "--ca-file", authority,
        ])
        try #require(service.firstLine == "listening")
        return service
    }
}

extension Sandbox {
    /// Waits for what the status says of Apple's last verdict on a client's secret. Apple is asked six times a minute at most.
    func awaitVerdict(_ verdict: String, on name: String) throws {
        try eventually("the verdict \(verdict) on \(name)", within: 300) {
            try (client(named: name)["verification"] as? [String: Any])?["verdict"] as? String == verdict
        }
    }
}
