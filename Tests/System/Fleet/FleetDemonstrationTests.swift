import Foundation
import TestSupport
import Testing

/// What `make demo-fleet` runs.
@Suite(.waits, .needs(.servers, .tools)) struct FleetDemonstrationTests {
    private func demonstrate(_ directory: String) throws -> Finished {
        try run([
            "timeout", "--foreground", "--signal=KILL", "10m", repository + "/scripts/demo-fleet", Binaries.daemon,
            repository + "/.build/etcd/usr/bin", directory,
        ])
    }

    @Test func theFleetReceivesEachSecretAndNothingIsLeftRunning() throws {
        let directory = try TemporaryDirectory()
        let demo = directory("demo")
        let finished = try demonstrate(demo)
        #expect(finished.status == 0, "\(finished.output)\(finished.complaints)")
        // At the start, at a renewal, and at one while a member of etcd is killed.
        for machine in ["app1", "app2", "app3"] {
            let secrets = finished.output.matches(of: /(\w+) +holds (sha256:[0-9a-f]{16}) after/)
                .filter { $0.output.1 == machine }
                .map(\.output.2)
            #expect(Set(secrets).count == 3 && secrets.count == 3, "\(machine): \(finished.output)")
            let end = try #require(finished.output.split(separator: "\(machine)$ clientsecretd health\n").last)
            #expect(end.hasPrefix("CLIENTSECRETD OK - 1 client, "), "\(finished.output)")
        }
        #expect(try running(demo) == [])
        #expect(!FileManager.default.fileExists(atPath: demo + "/etcd/member0-0"))
    }

    /// It makes and removes files in a folder of its own alone.
    @Test func itKeepsOtherFiles() throws {
        let directory = try TemporaryDirectory()
        try directory.write("mine", to: "web.jwt")
        let finished = try demonstrate(directory.path)
        #expect(finished.status == 1 && finished.complaints.contains("is not empty"), "\(finished.complaints)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["web.jwt"])
    }
}
