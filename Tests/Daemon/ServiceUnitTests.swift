import Linux
import Systemd
import TestSupport
import Testing

@testable import Daemon

/// What the settings of the daemon's unit tell about its configuration and its groups.
struct ServiceUnitTests {
    private func unit(_ values: [String: UnitSettings.Value], command: String = "clientsecretd run") throws
        -> ServiceUnit
    {
        let text = "[Service]\nExecStart=\(command)\n"
        let settings = UnitSettings(
            values: values, files: [UnitSettings.File(path: "/usr/lib/systemd/system/a.service", text: text)])
        return ServiceUnit(
            name: "a.service", sandbox: try #require(settings.sandbox()), isRunning: false, settings: settings,
            mounts: nil)
    }

    @Test func theConfigurationIsTheOneThatTheUnitNames() throws {
        let directory = try TemporaryDirectory()
        try directory.write("A=b\nCLIENTSECRETD_CONFIG=/etc/file.yaml\n", to: "env")
        let named: UnitSettings.Value = .list(["A=b", "CLIENTSECRETD_CONFIG=/etc/acme.yaml"])
        let file: UnitSettings.Value = .items([.init(name: directory("env"))])
        #expect(try unit([:]).configuration == nil)
        #expect(try unit(["Environment": .list(["CLIENTSECRETD_CONFIG="])]).configuration == nil)
        #expect(try unit(["Environment": named]).configuration == "/etc/acme.yaml")
        #expect(try unit(["Environment": named, "EnvironmentFiles": file]).configuration == "/etc/file.yaml")
        #expect(
            try unit(["Environment": named], command: "clientsecretd run --config /etc/flag.yaml").configuration
                == "/etc/flag.yaml")
    }

    @Test func theUnitsGroupsAreThoseOfItsProcesses() throws {
        let root = try #require(try Accounts.user(named: "root"))
        let daemon = try #require(try Accounts.groupID("daemon"))
        #expect(try unit([:]).account(of: root) == root)
        let account = try unit(["Group": .text("daemon"), "SupplementaryGroups": .list(["7", "no-such-group"])])
            .account(of: root)
        #expect(account.primaryGroup == daemon && account.addedGroups == [7])
        #expect(try unit(["SupplementaryGroups": .list(["7"])]).puts(user: 0, inGroup: 7))
        #expect(try !unit([:]).puts(user: 0, inGroup: 7))
    }
}
