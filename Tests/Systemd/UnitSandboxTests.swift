import Foundation
import TestSupport
import Testing

@testable import Systemd

/// What a unit's settings let its processes access; Tests/System/bed tests that systemd agrees.
@Suite struct UnitSandboxTests {
    /// The settings of the package's service.
    private static var service: UnitSandbox.Settings {
        var settings = UnitSandbox.Settings()
        settings.protectSystem = "strict"
        settings.protectHome = "yes"
        settings.privateTmp = true
        settings.readWritePaths = ["/run/clientsecretd/out"]
        settings.directories = ["/var/lib/clientsecretd"]
        return settings
    }

    private func view(_ path: String, _ change: (inout UnitSandbox.Settings) -> Void = { _ in }) -> UnitSandbox.View {
        var settings = Self.service
        change(&settings)
        return UnitSandbox(settings).view(of: path)
    }

    @Test func theServiceWritesWhereItsUnitSays() {
        let strict = UnitSandbox.View.readOnly(by: "ProtectSystem=strict")
        for path in ["/", "/srv/a", "/etc/clientsecretd", "/run/clientsecretd", "/run/clientsecretd/outer"] {
            #expect(view(path) == strict, "\(path)")
        }
        for path in ["/run/clientsecretd/out", "/run/clientsecretd/out/www", "/var/lib/clientsecretd"] {
            #expect(view(path) == .writable, "\(path)")
        }
        for path in ["/home", "/home/me/x", "/root", "/run/user/1000"] {
            #expect(view(path) == .hidden(by: "ProtectHome=yes"), "\(path)")
        }
        for path in ["/tmp", "/tmp/x", "/var/tmp/x"] {
            #expect(view(path) == .hidden(by: "PrivateTmp=yes"), "\(path)")
        }
        #expect(view("/srv/a/b") { $0.readWritePaths.append("/srv/a") } == .writable)
    }

    @Test func theNearestSettingCountsAndOfSeveralTheStrictest() {
        let paths: (inout UnitSandbox.Settings) -> Void = {
            $0.readWritePaths += ["/srv", "/srv/both", "/srv/shut/x", "/home/me"]
            $0.readOnlyPaths = ["/srv/shown", "/srv/both"]
            $0.inaccessiblePaths = ["/srv/shut"]
            $0.temporaryFileSystem = ["/srv/empty"]
            $0.bindPaths = ["/srv/empty/here"]
            $0.bindReadOnlyPaths = ["/srv/empty/there"]
        }
        #expect(view("/srv/any", paths) == .writable)
        #expect(view("/srv/shown/x", paths) == .readOnly(by: "ReadOnlyPaths=/srv/shown"))
        #expect(view("/srv/both", paths) == .readOnly(by: "ReadOnlyPaths=/srv/both"))
        // Nothing below an inaccessible directory is reached.
        #expect(view("/srv/shut/x", paths) == .hidden(by: "InaccessiblePaths=/srv/shut"))
        #expect(view("/home/me", paths) == .hidden(by: "ProtectHome=yes"))
        #expect(view("/srv/empty/x", paths) == .hidden(by: "TemporaryFileSystem=/srv/empty"))
        #expect(view("/srv/empty/here/x", paths) == .writable)
        #expect(view("/srv/empty/there/x", paths) == .readOnly(by: "BindReadOnlyPaths=/srv/empty/there"))
    }

    @Test func homesAreShownAsTheUnitSays() {
        #expect(view("/home/me") { $0.protectHome = "no" } == .writable)
        #expect(view("/home/me") { $0.protectHome = "read-only" } == .readOnly(by: "ProtectHome=read-only"))
        #expect(view("/home/me") { $0.protectHome = "tmpfs" } == .hidden(by: "ProtectHome=tmpfs"))
        let bound: (inout UnitSandbox.Settings) -> Void = {
            $0.protectHome = "tmpfs"
            $0.bindPaths = ["/home/me/secrets"]
        }
        #expect(view("/home/me/secrets/x", bound) == .writable)
        #expect(view("/home/me", bound) == .hidden(by: "ProtectHome=tmpfs"))
        #expect(view("/tmp/x") { $0.readWritePaths = ["/tmp/x"] } == .hidden(by: "PrivateTmp=yes"))
        #expect(view("/tmp/x") { $0.bindPaths = ["/tmp/x"] } == .writable)
    }

    @Test func aLinkIsJudgedByWhereItLeads() throws {
        let scratch = try TemporaryDirectory()
        try scratch.folder("real")
        try scratch.link("link", to: "real")
        let open: (inout UnitSandbox.Settings) -> Void = {
            $0.privateTmp = false
            $0.readWritePaths = [scratch("link")]
        }
        #expect(view(scratch("real") + "/x/y", open) == .writable)
        #expect(view(scratch("link") + "/x", open) == .writable)
        #expect(view(scratch("other"), open) == .readOnly(by: "ProtectSystem=strict"))
    }
}
