import Foundation
import TestSupport
import Testing

/// Three real members of etcd, and machines of which each has the real daemon and the real program that asks the store.
struct Fleet {
    let cluster: EtcdCluster

    /// - Parameter link: behind which the members are.
    init(behind link: NetworkLink? = nil) throws { cluster = try EtcdCluster(behind: link) }

    /// A machine with the private key.
    func signer() throws -> Sandbox {
        let signer = try Sandbox()
        try configure(signer: signer)
        return signer
    }

    /// - Parameter more: lines of its client.
    func configure(signer: Sandbox, certificate: String = "client", more: String = "") throws {
        try signer.configure(
            signer.client("web", more: more), others: store(of: signer, "signer", "signer", certificate))
    }

    /// A machine with the public half of this one's key alone.
    func follower(of signer: Sandbox, machine: String = "app17") throws -> Sandbox {
        let follower = try Sandbox()
        try FileManager.default.removeItem(atPath: follower.key)
        try configure(follower: follower, of: signer, machine: machine)
        return follower
    }

    func configure(
        follower: Sandbox, of signer: Sandbox, machine: String = "app17", certificate: String = "client",
        more: String = ""
    ) throws {
        try follower.configure(
            following: signer, follower.client("web", at: follower.directory("out/web.jwt")) + more,
            others: store(of: follower, "follower", machine, certificate))
    }

    /// The `store` section of a machine that is this user of etcd's.
    private func store(of sandbox: Sandbox, _ user: String, _ machine: String, _ certificate: String) throws -> String {
        try sandbox.directory.write(user + "\n", to: "store-password")
        return """
            store:
              endpoints: \(cluster.endpoints)
              ca_file: \(cluster.directory("ca.pem"))
              certificate_file: \(cluster.directory(certificate + ".pem"))
              key_file: \(cluster.directory(certificate + ".key"))
              user: \(user)
              machine: \(machine)
              password_file: \(sandbox.directory("store-password"))
            """
    }

    /// Starts to listen for a daemon, as systemd does.
    ///
    /// - Parameter wrapper: what begins the command line of the program that asks the store.
    func serve(_ sandbox: Sandbox, under wrapper: [String] = []) throws -> Background {
        let service = try Background(
            wrapper + [
                "/usr/bin/python3", repository + "/Tests/Support/activate.py", sandbox.directory("store.sock"),
                Binaries.network,
                "store", "--config", sandbox.configuration,
            ])
        try #require(service.firstLine == "listening")
        return service
    }

    /// How many secrets etcd holds.
    func held() throws -> Int {
        let keys = try cluster.order("ctl get --prefix --keys-only /clientsecretd/v1/secret/") as? String ?? ""
        return keys.split(separator: "\n").count
    }

    /// Waits until a machine has published what the signer has.
    func awaitSecret(of signer: Sandbox, on sandbox: Sandbox) throws {
        try sandbox.eventually("the signer's secret") { try (try? sandbox.published()) == signer.published() }
    }

    /// What a signer knows of the machines that hold its one client's secret.
    func counts(_ signer: Sandbox) throws -> [String: Any] {
        try #require((object(signer.get("/v1/fleet").body)["clients"] as? [[String: Any]])?.first)
    }
}

extension Sandbox {
    /// Mints a secret that is greater than the last one: one of another second.
    func renewLater() throws {
        awaitNextSecond()
        try succeed("renew", "web")
    }

    /// What a follower's status says of its source.
    func source() throws -> [String: String] { try #require(try client(named: "web")["source"] as? [String: String]) }
}
