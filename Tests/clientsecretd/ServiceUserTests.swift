import Linux
import TestSupport
import Testing

@testable import clientsecretd

/// Whose configuration a command reads.
@Suite struct ServiceUserTests {
    @Test func aConfigurationThatADaemonNamesIsReadIfItIsTheCallersOrRoots() throws {
        let directory = try TemporaryDirectory()
        try directory.write("", to: "c.yaml")
        #expect(ServiceUser.isReadByCaller(directory("c.yaml")))
        #expect(ServiceUser.isReadByCaller("/etc/passwd"))
        #expect(!ServiceUser.isReadByCaller(directory("none.yaml")))
        #expect(!ServiceUser.isReadByCaller("c.yaml"))
    }

    /// The service's user, if it is taken over, is not to have root look into files.
    @Test(.needs(.root)) func anotherUsersIsNot() throws {
        let directory = try TemporaryDirectory()
        try directory.write("", to: "c.yaml")
        try runToSuccess(["chown", "nobody", directory("c.yaml")])
        #expect(!ServiceUser.isReadByCaller(directory("c.yaml")))
    }
}
