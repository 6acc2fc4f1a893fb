import Foundation
import TestSupport
import Testing

/// Twenty real daemons that follow one signer through three real members of etcd.
@Suite(.waits, .needs(.venv, .servers)) struct TwentyFollowersTests {
    private let fleet: Fleet
    private let signer: Sandbox
    private let followers: [Sandbox]
    private let directory: TemporaryDirectory

    init() throws {
        let fleet = try Fleet()
        let signer = try fleet.signer()
        followers = try (1...20).map { try fleet.follower(of: signer, machine: "app\($0)") }
        directory = try TemporaryDirectory()
        self.fleet = fleet
        self.signer = signer
    }

    /// Has a program write down all that the followers' files hold, from now on.
    private func observe() throws -> Background {
        let program = """
            import sys, time
            log = open(sys.argv[1], "w")
            held = {}
            print("observing", flush=True)
            while True:
                for path in sys.argv[2:]:
                    try:
                        text = open(path).read()
                    except FileNotFoundError:
                        text = "nothing"
                    if held.get(path) != text:
                        held[path] = text
                        print(path, text, file=log, flush=True)
                time.sleep(0.005)
            """
        let observer = try Background(
            ["/usr/bin/python3", "-c", program, directory("observed")] + followers.map { $0.directory("out/web.jwt") })
        try #require(observer.firstLine == "observing")
        return observer
    }

    /// Writes into the store without end, as fast as it takes it.
    private func burden() throws -> Background {
        let cluster = fleet.cluster
        let program = """
            export ETCDCTL_API=3
            head -c 12000 /dev/urandom | base64 >"$1"
            echo writing
            for ((number = 0; ; number++)); do
                "$2" --endpoints "$3" --cacert "$4/ca.pem" --cert "$4/client.pem" --key "$4/client.key" --user root:root \\
                    --command-timeout 1s put /clientsecretd/v1/host/other$((number % 200)) <"$1" >/dev/null 2>&1
            done
            """
        let burden = try Background([
            "/bin/bash", "-c", program, "bash", directory("value"), repository + "/.build/etcd/usr/bin/etcdctl",
            cluster.endpoints.joined(separator: ","), cluster.directory.path,
        ])
        try #require(burden.firstLine == "writing")
        return burden
    }

    @Test func noneGoesBackWhenTheStoreIsEmptiedAndAnOldBackupRestoredUnderLoad() throws {
        let services = try ([signer] + followers).map { try fleet.serve($0) }
        try signer.start()
        try signer.eventually("the put") { try fleet.held() == 1 }
        for follower in followers {
            try follower.start()
            try fleet.awaitSecret(of: signer, on: follower)
        }
        let first = try fleet.published(signer)
        try fleet.cluster.order("save")

        try fleet.renew(signer)
        let second = try fleet.published(signer)
        #expect(second != first)
        for follower in followers { try fleet.awaitSecret(of: signer, on: follower) }

        let observer = try observe()
        var burden: Background? = try burden()
        try fleet.cluster.order("ctl del --prefix /clientsecretd/")
        try signer.eventually("the put after everything was deleted") { try fleet.held() == 1 }
        try fleet.cluster.order("restore")
        for follower in followers {
            try follower.eventually("the secret that the signer has put over the earlier one", within: 180) {
                _ = try follower.command("renew", "web")
                return try fleet.source(follower)["state"] == "current"
            }
        }
        try fleet.renew(signer)
        let third = try fleet.published(signer)
        for follower in followers { try fleet.awaitSecret(of: signer, on: follower) }
        #expect(burden != nil)
        burden = nil

        // Nobody puts it there again.
        signer.stop(SIGKILL)
        try fleet.cluster.order("ctl del --prefix /clientsecretd/")
        for follower in followers {
            try follower.eventually("a read of the emptied store") {
                #expect(try follower.command("renew", "web").status == 1)
                return try fleet.source(follower)["state"] == "missing"
            }
            #expect(try fleet.published(follower) == third)
            #expect(try follower.status()["state"] as? String == "ok")
        }

        withExtendedLifetime(observer) {}
        let observed = try directory.read("observed").split(separator: "\n").map { $0.split(separator: " ") }
        for follower in followers {
            let path = follower.directory("out/web.jwt")
            let held = observed.filter { $0.first.map(String.init) == path }.map { String($0.last ?? "") }
            #expect(held == [second, third])
        }
        _ = services
    }
}
