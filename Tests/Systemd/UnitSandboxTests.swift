import Foundation
import TestSupport
import Testing

@testable import Systemd

/// What a unit's settings let its processes access; Tests/System/bed tests that systemd agrees.
@Suite struct UnitSandboxTests {
    /// The settings of the package's service.
    private static let service: [String: UnitSettings.Value] = [
        "ProtectSystem": .text("strict"), "ProtectHome": .text("yes"), "PrivateTmp": .flag(true),
        "ReadWritePaths": .list(["/run/clientsecretd/out"]), "StateDirectory": .list(["clientsecretd"]),
    ]

    private func view(_ path: String, _ change: [String: UnitSettings.Value] = [:]) throws -> UnitSandbox.View {
        try #require(UnitSandbox(Self.service.merging(change) { $1 })).view(of: path)
    }

    private static func binds(_ path: String) -> UnitSettings.Value { .items([.init(name: "/srv/any", path: path)]) }

    @Test func theServiceWritesWhereItsUnitSays() throws {
        let strict = UnitSandbox.View.readOnly(by: "ProtectSystem=strict", canBeOpened: true)
        for path in ["/srv/a", "/etc/clientsecretd", "/run/clientsecretd", "/run/clientsecretd/outer"] {
            #expect(try view(path) == strict, "\(path)")
        }
        for path in ["/run/clientsecretd/out", "/run/clientsecretd/out/www", "/var/lib/clientsecretd"] {
            #expect(try view(path) == .writable, "\(path)")
        }
        for path in ["/home", "/home/me/x", "/root", "/run/user/1000"] {
            #expect(try view(path) == .hidden(by: "ProtectHome=yes"), "\(path)")
        }
        for path in ["/tmp", "/tmp/x", "/var/tmp/x"] {
            #expect(try view(path) == .hidden(by: "PrivateTmp=yes"), "\(path)")
        }
        #expect(try view("/srv/a/b", ["ReadWritePaths": .list(["/srv/a"])]) == .writable)
    }

    @Test func theNearestSettingCountsAndOfSeveralTheStrictest() throws {
        let paths: [String: UnitSettings.Value] = [
            "ReadWritePaths": .list(["/srv", "/srv/both", "/srv/shut/x", "/home/me"]),
            "ReadOnlyPaths": .list(["/srv/shown", "-+/srv/both"]), "InaccessiblePaths": .list(["/srv/shut"]),
            "TemporaryFileSystem": .items([.init(name: "/srv/empty", path: "ro")]),
            "BindPaths": Self.binds("/srv/empty/here"), "BindReadOnlyPaths": Self.binds("/srv/empty/there"),
        ]
        #expect(try view("/srv/any", paths) == .writable)
        #expect(try view("/srv/shown/x", paths) == .readOnly(by: "ReadOnlyPaths=/srv/shown", canBeOpened: true))
        #expect(try view("/srv/both", paths) == .readOnly(by: "ReadOnlyPaths=/srv/both", canBeOpened: false))
        // Nothing below an inaccessible directory is reached.
        #expect(try view("/srv/shut/x", paths) == .hidden(by: "InaccessiblePaths=/srv/shut"))
        #expect(try view("/home/me", paths) == .hidden(by: "ProtectHome=yes"))
        #expect(try view("/srv/empty/x", paths) == .hidden(by: "TemporaryFileSystem=/srv/empty"))
        #expect(try view("/srv/empty/here/x", paths) == .writable)
        #expect(
            try view("/srv/empty/there/x", paths)
                == .readOnly(by: "BindReadOnlyPaths=/srv/empty/there", canBeOpened: true))
    }

    @Test func homesAreShownAsTheUnitSays() throws {
        #expect(try view("/home/me", ["ProtectHome": .text("no")]) == .writable)
        #expect(
            try view("/home/me", ["ProtectHome": .text("read-only")])
                == .readOnly(by: "ProtectHome=read-only", canBeOpened: true))
        #expect(try view("/home/me", ["ProtectHome": .text("tmpfs")]) == .hidden(by: "ProtectHome=tmpfs"))
        let bound: [String: UnitSettings.Value] = [
            "ProtectHome": .text("tmpfs"), "BindPaths": Self.binds("/home/me/secrets"),
        ]
        #expect(try view("/home/me/secrets/x", bound) == .writable)
        #expect(try view("/home/me", bound) == .hidden(by: "ProtectHome=tmpfs"))
        #expect(try view("/tmp/x", ["ReadWritePaths": .list(["/tmp/x"])]) == .hidden(by: "PrivateTmp=yes"))
        #expect(try view("/tmp/x", ["BindPaths": Self.binds("/tmp/x")]) == .writable)
    }

    @Test func aLinkIsJudgedByWhereItLeads() throws {
        let scratch = try TemporaryDirectory()
        try scratch.folder("real")
        try scratch.link("link", to: "real")
        let open: [String: UnitSettings.Value] = [
            "PrivateTmp": .flag(false), "ReadWritePaths": .list([scratch("link")]),
        ]
        #expect(try view(scratch("real") + "/x/y", open) == .writable)
        #expect(try view(scratch("link") + "/x", open) == .writable)
        #expect(try view(scratch("other"), open) == .readOnly(by: "ProtectSystem=strict", canBeOpened: true))
    }

    /// At the very path that another setting names, ReadWritePaths= has no effect.
    @Test func theSettingThatOpensAPathHasAnEffectThere() throws {
        let system: [String: UnitSettings.Value] = [
            "ProtectSystem": .text("yes"), "ReadWritePaths": .list(["/boot"]),
            "BindReadOnlyPaths": Self.binds("/srv/shown"),
        ]
        #expect(try view("/boot", system) == .readOnly(by: "ProtectSystem=yes", canBeOpened: false))
        #expect(try view("/usr/share", system) == .readOnly(by: "ProtectSystem=yes", canBeOpened: true))
        #expect(try view("/srv/shown", system) == .readOnly(by: "BindReadOnlyPaths=/srv/shown", canBeOpened: false))
        #expect(try view("/") == .readOnly(by: "ProtectSystem=strict", canBeOpened: false))
        let opened: [String: UnitSettings.Value] = [
            "ProtectSystem": .text("yes"), "ReadWritePaths": .list(["/usr/share"]),
        ]
        #expect(try view("/usr/share", opened) == .writable)
    }

    @Test func ofAnotherRootDirectoryNothingIsKnown() {
        #expect(UnitSandbox(["RootDirectory": .text("/srv/root")]) == nil)
    }
}
