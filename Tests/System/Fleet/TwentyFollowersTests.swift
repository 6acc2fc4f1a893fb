import Foundation
import TestSupport
import Testing

/// Twenty real daemons that follow one signer through three real members of etcd.
@Suite(.waits) struct TwentyFollowersTests {
    @Test func allReceiveARenewalAndNoneGoesBackWhenTheStoreIsEmptied() throws {
        let fleet = try Fleet()
        let signer = try fleet.signer()
        let followers = try (1...20).map { try fleet.follower(of: signer, machine: "app\($0)") }
        let services = try ([signer] + followers).map(fleet.serve)
        try signer.start()
        try signer.eventually("the put") { try fleet.held() == 1 }
        for follower in followers {
            try follower.start()
            try fleet.awaitSecret(of: signer, on: follower)
        }
        let first = try fleet.published(signer)

        try fleet.renew(signer)
        let second = try fleet.published(signer)
        #expect(second != first)
        for follower in followers { try fleet.awaitSecret(of: signer, on: follower) }

        // Nobody puts it there again.
        signer.stop(SIGKILL)
        try fleet.cluster.order("ctl del --prefix /clientsecretd/")
        for follower in followers {
            try follower.eventually("a read of the emptied store") {
                #expect(try follower.command("renew", "web").status == 1)
                return try fleet.source(follower)["state"] == "missing"
            }
            #expect(try fleet.published(follower) == second)
            #expect(try follower.status()["state"] as? String == "ok")
        }
        _ = services
    }
}
