import Foundation
import TestSupport
import Testing

extension StandIn {
    /// Has the program that asks listen for a sandbox's daemon, and ask this.
    func serve(_ sandbox: Sandbox) throws -> Background {
        try sandbox.listen(at: "verify.sock", "verify", "--endpoint", address, "--ca-file", authority)
    }
}

extension Sandbox {
    /// Has the network program listen for the daemon, below the directory of its status socket as in a pod.
    func listen(at socket: String, _ role: String...) throws -> Background {
        let service = try Background([Binaries.network, "listen", directory(socket)] + role, waiting: false)
        try eventually("the service") { isThere(socket) }
        return service
    }

    /// Waits for what the status says of Apple's last verdict on a client's secret. Apple is asked six times a minute at most.
    func awaitVerdict(_ verdict: String, on name: String) throws {
        try eventually("the verdict \(verdict) on \(name)", within: 300) {
            try (client(named: name)["verification"] as? [String: Any])?["verdict"] as? String == verdict
        }
    }
}
