import Config
import Failures
import Glibc
import Linux
import Model
import Outputs
import Systemd
import TestSupport
import Testing

@testable import Daemon

/// What the sandboxes of the units that write keep them from, as systemd's settings and the running processes show it.
struct SandboxReviewTests {
    private static let unit = "z.service"

    /// - Parameters:
    ///   - mounts: of the running process, after the root's: a mount point and its options.
    ///   - source: the directory that is mounted at each point but the root; nil: the point itself.
    private func found(
        writing path: AbsolutePath, open directory: String, mounts: [(point: String, options: String)],
        of source: String? = nil, bound: [UnitSettings.Item] = [], met: Failure.Code? = nil
    ) throws -> [String] {
        let user = try Accounts.user(id: geteuid())?.name ?? "root"
        let values: [String: UnitSettings.Value] = [
            "User": .text(user), "DynamicUser": .flag(false), "ProtectSystem": .text("strict"),
            "ReadWritePaths": .list(["-" + directory]), "BindPaths": .items(bound),
        ]
        let settings = UnitSettings(values: values, files: [])
        let own = try #require(MountTable.ofThisProcess())
        let lines = try mounts.enumerated().map { offset, mount in
            let place = try #require(own.place(of: source ?? mount.point))
            return "\(offset + 10) 9 \(place.device) \(place.path) \(mount.point) \(mount.options) - ext4 /dev/a rw"
        }
        let table = MountTable((["9 1 8:1 / / ro - ext4 /dev/a rw"] + lines).joined(separator: "\n"))
        let sandbox = try #require(settings.sandbox())
        var review = SandboxReview(
            ServiceUnit(name: Self.unit, sandbox: sandbox, isRunning: true, settings: settings, mounts: table))
        return review.problems(with: path, writer: nil, met: met.map { Failure($0, at: .path(path)) })
            .map { "\($0.detail ?? $0.code.rawValue): \($0.remedy?.command ?? "")" }
    }

    /// systemd binds each directory that is open when it starts the unit: one that was removed since is bound no longer, and one
    /// that is created later never was.
    @Test func aDirectoryThatIsOpenOnlyAfterARestartIsNamed() throws {
        let directory = try TemporaryDirectory()
        let place = RealPath.of(directory("own"))
        let path = try #require(AbsolutePath(place + "/web.jwt"))
        try directory.folder("own")
        #expect(try found(writing: path, open: place, mounts: [(place, "rw")]) == [])
        let words =
            "\(Self.unit) was started before it was let write to \(place), or before that directory was created, and may "
            + "not write there until it is restarted: systemctl restart \(Self.unit)"
        #expect(try found(writing: path, open: place, mounts: []) == [words])
        // A mount of another directory says nothing of this one.
        #expect(try found(writing: path, open: place, mounts: [(place + "s", "rw")]) == [words])
        // One that is missing is created first.
        #expect(unsafe rmdir(place) == 0)
        #expect(try found(writing: path, open: place, mounts: [], met: .directoryMissing) == ["directory_missing: "])
    }

    /// A process has the groups of its start, whatever the account database says now.
    @Test func aGroupThatIsTheServicesOnlyAfterARestartIsNamed() throws {
        let directory = try TemporaryDirectory()
        let out = RealPath.of(try directory.folder("out"))
        // Root gives files to every group.
        let user: UInt32 = geteuid() == 0 ? 1 : geteuid()
        if geteuid() == 0 { #expect(unsafe chown(out, user, user) == 0) }
        let path = try #require(AbsolutePath(out + "/web.jwt"))
        let spec = FileSpec(
            path: path, format: FileFormat(name: "raw"), mode: nil, group: "54321", owner: nil, slots: [:])
        func problem(groups: Set<UInt32>?) throws -> Failure? {
            let settings = UnitSettings(values: ["ProtectSystem": .text("strict")], files: [])
            let review = SandboxReview(
                ServiceUnit(
                    name: Self.unit, sandbox: try #require(settings.sandbox()), isRunning: true, settings: settings,
                    mounts: nil, groups: groups))
            return review.problem(
                withGroupOf: spec, as: Identity(user: user, group: user, groups: [54_321]))
        }
        #expect(try problem(groups: [user, 54_321]) == nil)
        #expect(try problem(groups: nil) == nil)
        let failure = try #require(try problem(groups: [user]))
        #expect(failure.code == .groupNotPermitted)
        #expect(failure.detail == "54321: \(Self.unit) was started before its user was in this group")
        #expect(failure.remedy?.command == "systemctl restart \(Self.unit)")
    }

    /// The mount goes on showing the former one, where the secret would go unseen.
    @Test func aDirectoryThatTookThePlaceOfTheMountedOneIsNamed() throws {
        let directory = try TemporaryDirectory()
        let place = RealPath.of(directory("own"))
        let path = try #require(AbsolutePath(place + "/web.jwt"))
        try directory.folder("own")
        let former = place + ".old"
        #expect(
            try found(writing: path, open: place, mounts: [(place, "rw")], of: former) == [
                "\(Self.unit) was started before this \(place) was created, and does not write there until it is "
                    + "restarted: systemctl restart \(Self.unit)"
            ])
        // Unless the unit is to see another one there.
        let bound = UnitSettings.Item(name: former, path: place)
        #expect(try found(writing: path, open: place, mounts: [(place, "rw")], of: former, bound: [bound]) == [])
    }

    @Test func aSourceAndAConfigurationThatAreHiddenAreNamed() throws {
        let settings = UnitSettings(values: ["ProtectHome": .text("yes"), "PrivateTmp": .flag(true)], files: [])
        let review = SandboxReview(
            ServiceUnit(
                name: Self.unit, sandbox: try #require(settings.sandbox()), isRunning: true, settings: settings,
                mounts: nil))
        for (path, setting) in [("/home/app/in.jwt", "ProtectHome=yes"), ("/tmp/in.jwt", "PrivateTmp=yes")] {
            let path = try #require(AbsolutePath(path))
            let source = try #require(review.problem(withSource: path))
            #expect(source.code == .sourceUnreadable && source.place == .path(path))
            #expect(source.detail == "z.service does not see \(path) (\(setting))")
            #expect(review.problem(withConfiguration: path)?.code == .outsideSandbox)
        }
        #expect(review.problem(withSource: try #require(AbsolutePath("/srv/in.jwt"))) == nil)
    }

    private func service(_ values: [String: UnitSettings.Value], _ files: [UnitSettings.File] = []) throws
        -> ServiceUnit
    {
        let settings = UnitSettings(values: values, files: files)
        return ServiceUnit(
            name: Self.unit, sandbox: try #require(settings.sandbox()), isRunning: true, settings: settings, mounts: nil
        )
    }

    /// To move the file there would not help: without the setting the service sees it, where it is or there.
    @Test func aSettingThatHidesTheProposedPlaceIsToBeRemoved() throws {
        func remedy(
            _ path: String, _ values: [String: UnitSettings.Value], _ lines: [String] = []
        ) throws -> String? {
            let own = "[Service]\nInaccessiblePaths=-/etc/clientsecretd\n"
            let dropIn = (["[Service]"] + lines).joined(separator: "\n") + "\n"
            let review = SandboxReview(
                try service(
                    values,
                    [
                        UnitSettings.File(path: "/usr/lib/z.service", text: own),
                        UnitSettings.File(path: "/etc/z.d/a.conf", text: dropIn),
                    ]))
            return review.problem(withConfiguration: try #require(AbsolutePath(path)))?.remedy?.description
        }
        let standard = "/etc/clientsecretd/clientsecretd.yaml"
        let closed: [String: UnitSettings.Value] = ["InaccessiblePaths": .list(["-/etc/clientsecretd"])]
        let removal = "remove InaccessiblePaths=/etc/clientsecretd in /etc/z.d/a.conf:3, and restart \(Self.unit)"
        let lines = [
            "InaccessiblePaths=/etc/clientsecretds", "InaccessiblePaths=/boot -/etc/clientsecretd",
            "InaccessiblePaths=-/etc/clientsecretd.d",
        ]
        #expect(try remedy(standard, closed, lines) == removal)
        // The package's own file is not to be edited.
        #expect(
            try remedy(standard, closed)
                == "remove InaccessiblePaths=/etc/clientsecretd with systemctl edit \(Self.unit), and restart \(Self.unit)"
        )
        let temporary: [String: UnitSettings.Value] = ["TemporaryFileSystem": .items([.init(name: "/etc", path: "ro")])]
        #expect(
            try remedy(standard, temporary, ["TemporaryFileSystem=/etc:ro"])
                == "remove TemporaryFileSystem=/etc in /etc/z.d/a.conf:2, and restart \(Self.unit)")
        let move = "put it at /etc/clientsecretd/c.yaml, and name that file in the unit"
        let home = "/home/no-such/c.yaml"
        #expect(try remedy(home, ["ProtectHome": .text("yes")]) == move)
        let both = closed.merging(["ProtectHome": .text("yes")]) { $1 }
        #expect(try remedy(home, both, lines) == "\(removal), then \(move)")
    }

    /// The daemon would call it missing, or closed to its user.
    @Test func aConfigurationThatTheUnitHidesIsRefusedForThat() throws {
        let directory = try TemporaryDirectory()
        let review = SandboxReview(try service(["ProtectHome": .text("yes"), "PrivateTmp": .flag(true)]))
        func lines(_ path: String) -> [String] {
            let error = ConfigurationError(
                diagnostics: [Diagnostic(.error, at: Position(file: path), "there is no such file")])
            return OwnSandbox.explained(error, of: path, by: { review }).diagnostics.map(\.description)
        }
        let hidden = "/home/no-such/c.yaml"
        #expect(
            lines(hidden) == [
                "\(hidden):1:1: error: \(hidden): the unit's sandbox does not allow it: \(Self.unit) does not see \(hidden) "
                    + "(ProtectHome=yes); put it at /etc/clientsecretd/c.yaml, and name that file in the unit"
            ])
        #expect(lines("/etc/no-such/c.yaml") == ["/etc/no-such/c.yaml:1:1: error: there is no such file"])
        // What is read is seen, whatever the settings say: some containers have no sandbox.
        let seen = try directory.write("", to: "c.yaml")
        #expect(lines(seen) == ["\(seen):1:1: error: there is no such file"])
    }

    /// Then the machine itself has the directory mounted read-only.
    @Test(arguments: [FailureCode.readOnlyFileSystem, .stateUnusable])
    func aSettingThatIsInEffectIsNotAskedFor(code: FailureCode) throws {
        let words = code == .stateUnusable ? "name another directory as \"state_dir\"" : "write another path"
        let path = try #require(AbsolutePath("/srv/no-such/web.jwt"))
        let cause = ReadOnlyCause.mount("/srv/no-such")
        func remedy(_ writable: [String]) throws -> String? {
            let unit = try service(["ProtectSystem": .text("strict"), "ReadWritePaths": .list(writable)])
            let met = Failure(
                code, at: .path(path),
                remedy: OutputRemedy.ofReadOnly(cause, "/srv/no-such", for: 0, isOpened: false, otherwise: words))
            return OwnSandbox.explained(met, by: cause, of: "/srv/no-such", to: unit, as: .root).remedy?.description
        }
        let mounting = "the mount at /srv/no-such is read-only here: mount it writable and restart the daemon"
        #expect(try remedy([]) == "\(mounting), let the service write there with ReadWritePaths=, or \(words)")
        #expect(try remedy(["-/srv"]) == "\(mounting), or \(words)")
    }
}
