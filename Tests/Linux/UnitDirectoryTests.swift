import Failures
import TestSupport
import Testing

@testable import Linux

/// Which directories systemd makes for units, by their files.
struct UnitDirectoryTests {
    private let scratch: TemporaryDirectory
    private var all: [UnitDirectory] { UnitDirectory.all(in: [scratch("etc"), scratch("lib")]) }

    init() throws {
        scratch = try TemporaryDirectory()
        for name in ["etc", "lib"] { try scratch.folder(name) }
    }

    private func unit(_ name: String, _ lines: String) throws {
        try scratch.write("[Service]\n\(lines)\n", to: name)
    }

    @Test(arguments: [
        ("RuntimeDirectory=app", "/run/app"), ("RuntimeDirectory=app", "/run/app/below"),
        ("RuntimeDirectory=other app", "/run/app"), ("RuntimeDirectory = \"app\"", "/run/app"),
        ("RuntimeDirectory=other \\\n  app", "/run/app"), ("RuntimeDirectory=other:app", "/run/app"),
        ("RuntimeDirectory=a/b", "/run/a/b/c"), ("RuntimeDirectory=app", "/run/private/app"),
        ("StateDirectory=app", "/var/lib/app"), ("CacheDirectory=app", "/var/cache/app"),
        ("LogsDirectory=app", "/var/log/app"), ("ConfigurationDirectory=app", "/etc/app"),
        ("StateDirectory=app", "/var/lib/private/app"),
        ("RuntimeDirectory=%N", "/run/app"), ("RuntimeDirectory=%p-%%", "/run/app-%"),
        ("RuntimeDirectory=%n", "/run/app.service"),
        ("RuntimeDirectory=in/%i", "/run/in/any"), ("RuntimeDirectory=\nRuntimeDirectory=app", "/run/app"),
    ])
    func aDirectoryIsItsUnits(lines: String, path: String) throws {
        try unit("lib/app.service", lines)
        let found = try #require(UnitDirectory.of(path, missingIn: "/", among: all))
        #expect(found.unit == "app.service")
        #expect(lines.contains(found.setting) && RealPath.isAt(path, orBelow: found.path))
    }

    @Test(arguments: [
        ("RuntimeDirectory=app", "/run/apple"), ("RuntimeDirectory=a/b", "/run/a"),
        ("RuntimeDirectory=app", "/srv/app"),
        ("# RuntimeDirectory=app", "/run/app"), ("RuntimeDirectory=app\nRuntimeDirectory=", "/run/app"),
        ("RuntimeDirectoryMode=app", "/run/app"), ("RuntimeDirectory=%i", "/run/app"),
        ("StateDirectory=app", "/run/app"),
    ])
    func anotherDirectoryIsNot(lines: String, path: String) throws {
        try unit("lib/app.service", lines)
        #expect(UnitDirectory.of(path, missingIn: "/", among: all) == nil)
    }

    @Test func theFilesInEffectCount() throws {
        func owner(_ path: String) -> String? { UnitDirectory.of(path, missingIn: "/", among: all)?.unit }
        try unit("lib/app.service", "RuntimeDirectory=app")
        try unit("etc/app.service", "RuntimeDirectory=new")
        #expect(owner("/run/app") == nil)
        #expect(owner("/run/new") == "app.service")
        for name in ["lib/app.service.d", "etc/app.service.d"] { try scratch.folder(name) }
        try unit("lib/app.service.d/1.conf", "RuntimeDirectory=more")
        #expect(owner("/run/more") == "app.service")
        try unit("etc/app.service.d/1.conf", "RuntimeDirectory=")
        #expect(owner("/run/more") == nil && owner("/run/new") == nil)
        // Another name of a unit, and one that never starts.
        try unit("lib/real.socket", "RuntimeDirectory=real")
        try scratch.link("etc/alias.socket", to: scratch("lib/real.socket"))
        #expect(owner("/run/real") == "real.socket")
        try scratch.link("etc/real.socket", to: "/dev/null")
        #expect(owner("/run/real") == nil)
    }

    /// Which of them is used is not known then.
    @Test func ofSeveralStoppedUnitsAllAreNamed() throws {
        func found(_ path: String) throws -> UnitDirectory {
            try #require(UnitDirectory.of(path, missingIn: "/", among: all, isRunning: { _ in false }))
        }
        try unit("lib/app.service", "StateDirectory=app\nRuntimeDirectory=app shared")
        #expect(
            try found("/run/app").words
                == "app.service makes /run/app when it starts and removes it when it stops (RuntimeDirectory=)")
        #expect(try found("/var/lib/app").words == "app.service makes /var/lib/app when it starts (StateDirectory=)")
        #expect(try found("/var/lib/app").advice == "start app.service")
        try unit("lib/app-once.service", "StateDirectory=app in/other\nRuntimeDirectory=shared/below")
        try unit("lib/app-at@.service", "StateDirectory=in/%i\nRuntimeDirectory=in/%i")
        #expect(
            try found("/var/lib/app").words
                == "app-once.service and app.service make /var/lib/app when they start (StateDirectory=)")
        #expect(try found("/var/lib/app").advice == "start one of them")
        #expect(try found("/var/lib/in/other").advice == "start app-once.service")
        try unit("lib/job.service", "RuntimeDirectory=shared")
        #expect(
            try found("/run/shared").words
                == "app.service and job.service make /run/shared when they start and remove it when they stop "
                + "(RuntimeDirectory=)")
        // Only one with a specifier may make this.
        #expect(try found("/run/in/none").advice == "start an instance of app-at@.service")
        let running = UnitDirectory.of(
            "/var/lib/app", missingIn: "/", among: all, isRunning: { $0.unit == "app.service" })
        #expect(running?.words == "app.service makes /var/lib/app when it starts (StateDirectory=)")
    }

    /// A state directory that is there stays, and what is made in it. A unit that stops takes its runtime directory with it.
    @Test func whatIsMadeInAnExistingOneStaysUnlessTheUnitRemovesIt() throws {
        try unit("lib/app.service", "RuntimeDirectory=app\nStateDirectory=app")
        #expect(UnitDirectory.of("/run/app/new", missingIn: "/run/app", among: all)?.isRemovedAtStop == true)
        #expect(UnitDirectory.of("/var/lib/app/new", missingIn: "/var/lib/app", among: all) == nil)
        #expect(UnitDirectory.of("/var/lib/app/new", missingIn: "/var/lib", among: all)?.isRemovedAtStop == false)
    }

    @Test func memoryIsVolatile() {
        #expect(FileSystems.isVolatile("/dev/shm"))
        #expect(!FileSystems.isVolatile("/proc"))
    }
}
