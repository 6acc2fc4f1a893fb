import Foundation
import TestSupport
import Testing

/// A machine whose network to the members of etcd is cut, while it, they and the signer live on.
@Suite(.waits, .needs(.venv, .servers)) struct PartitionTests {
    private func isReached(_ sandbox: Sandbox) throws -> Bool {
        try sandbox.get("/metrics").body.contains("\nclientsecretd_store_reachable 1\n")
    }

    @Test(.needs(.root))
    func nothingChangesWhileAMachineIsCutOffAndThenItReadsByItself() throws {
        let link = try NetworkLink()
        let fleet = try Fleet(behind: link)
        let signer = try fleet.signer()
        let follower = try fleet.follower(of: signer)
        // The members are elsewhere, seen from there.
        let configuration = try follower.directory.read("clientsecretd.yaml")
        try follower.directory.write(
            configuration.replacing("https://127.0.0.1:", with: "https://\(NetworkLink.nearAddress):"),
            to: "clientsecretd.yaml")
        let services = [try fleet.serve(signer, under: link.near), try fleet.serve(follower, under: link.far)]
        try signer.start()
        try signer.eventually("the put") { try fleet.held() == 1 }
        try follower.start()
        try fleet.awaitSecret(of: signer, on: follower)
        try follower.eventually("health") { try follower.status()["state"] as? String == "ok" }

        try link.set(up: false)
        let kept = try follower.published()
        #expect(try follower.command("renew", "web").status == 1)
        #expect(try follower.source()["state"] == "unreachable")
        #expect(try !isReached(follower))
        // The others go on.
        try signer.renewLater()
        let renewed = try signer.published()
        #expect(renewed != kept)
        try signer.eventually("the second put") {
            let held = try fleet.cluster.order("ctl get --prefix --print-value-only /clientsecretd/v1/secret/")
            return (held as? String ?? "").contains(renewed)
        }
        #expect(try isReached(signer))
        // A new process over there does no better than the one that had a connection, and takes nothing away.
        follower.stop()
        try follower.start()
        #expect(try follower.command("renew", "web").status == 1)
        #expect(try follower.published() == kept)
        #expect(try follower.status()["state"] as? String == "ok")
        try follower.succeed("health")

        try link.set(up: true)
        try follower.eventually("the renewed secret, unasked", within: 600) { try follower.published() == renewed }
        // On a busy machine the next read may be late once more.
        try follower.eventually("that the store is reached", within: 600) {
            try isReached(follower) && follower.source()["state"] == "current"
        }
        _ = services
    }
}
