import Model
import Systemd
import Testing

@testable import Daemon

/// What `check` finds in the settings of a service of the network program about a file that the configuration names for it.
struct RoleFilesTests {
    private func objection(
        to path: String, _ values: [String: UnitSettings.Value] = [:]
    ) throws -> String? {
        let shipped: [String: UnitSettings.Value] = [
            "DynamicUser": .flag(true), "User": .text("csp-production"), "ProtectHome": .text("yes"),
            "InaccessiblePaths": .list(["-/etc/clientsecretd"]),
        ]
        return UnitsInEffect.objection(
            to: try #require(AbsolutePath(path)), of: "a.service",
            UnitSettings(values: shipped.merging(values) { $1 }, files: []))
    }

    @Test func aFileThatTheSandboxHidesIsNamed() throws {
        let path = "/etc/clientsecretd/ca.pem"
        #expect(
            try objection(to: path) == "a.service does not see \(path) (InaccessiblePaths=/etc/clientsecretd)")
        #expect(try objection(to: "/root/ca.pem") == "a.service does not see /root/ca.pem (ProtectHome=yes)")
    }

    /// systemd makes the user, so nothing is that user's own.
    @Test func aFileThatIsNotForAllIsNotForThatUser() throws {
        #expect(try objection(to: "/etc/passwd") == nil)
        let path = "/etc/shadow"
        #expect(try objection(to: path) == "the user of a.service may not read \(path)")
        for values in [["DynamicUser": .flag(false)], ["SupplementaryGroups": .list(["shadow"])]]
            as [[String: UnitSettings.Value]]
        {
            #expect(try objection(to: path, values) == nil)
        }
    }
}
