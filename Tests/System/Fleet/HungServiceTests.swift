import Foundation
import TestSupport
import Testing

/// A process that asks the store, and hangs where no request's deadline ends that.
@Suite(.waits, .needs(.venv, .servers)) struct HungServiceTests {
    /// Whether a process other than this one has the file open.
    private func isOpen(_ path: String) throws -> Bool {
        try FileManager.default.contentsOfDirectory(atPath: "/proc").contains { name in
            guard let process = Int32(name), process != getpid() else { return false }
            let open = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(name)/fd")) ?? []
            return open.contains {
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(name)/fd/\($0)")) == path
            }
        }
    }

    @Test func anotherOneTakesItsPlace() throws {
        let fleet = try Fleet()
        let signer = try fleet.signer()
        // What never ends is read for ever.
        let authority = signer.directory("ca.pem")
        let made = unsafe mkfifo(authority, 0o600)
        try #require(made == 0)
        let writer = unsafe open(authority, O_RDWR | O_CLOEXEC)
        try #require(writer >= 0)
        defer { close(writer) }
        let configuration = try signer.directory.read("clientsecretd.yaml")
        try signer.directory.write(
            configuration.replacing(fleet.cluster.directory("ca.pem"), with: authority), to: "clientsecretd.yaml")
        let service = try fleet.serve(signer)
        try signer.start()
        try signer.eventually("a process that hangs") { try isOpen(authority) }
        try FileManager.default.copyItem(atPath: fleet.cluster.directory("ca.pem"), toPath: signer.directory("right"))
        let renamed = unsafe rename(signer.directory("right"), authority)
        try #require(renamed == 0)
        // Some hundred seconds, of which etcd is spared the questions.
        try signer.eventually("an answer", within: 600) {
            try run(["curl", "--silent", "--unix-socket", signer.socket, "http://localhost/metrics"]).output
                .contains("\nclientsecretd_store_reachable 1\n")
        }
        try signer.eventually("the put") { try fleet.held() == 1 }
        _ = service
    }
}
