import TestSupport
import Testing

@testable import Systemd

/// What is in effect beside what a unit's file says; Tests/System/bed asks a real systemd.
@Suite struct UnitSettingsTests {
    private let shipped = """
        [Unit]
        PrivateNetwork=no
        [Service]
        # NoNewPrivileges=no
        NoNewPrivileges=yes
        PrivateNetwork=yes
        ProtectProc=invisible
        ProtectHome=yes
        PrivateUsers=no
        CapabilityBoundingSet=
        SystemCallFilter=@system-service \\
            @chown
        RestrictNamespaces=yes
        LoadCredential=config:/etc/config
        SetCredential=config:#missing
        """
    private let containers = "[Service]\nProtectProc=default\nNoNewPrivileges=no\nLoadCredential=\nPrivateNetwork=no\n"

    private func settings(
        _ values: [String: UnitSettings.Value], _ dropIns: [(path: String, text: String)] = []
    ) -> UnitSettings {
        let files = [("/usr/lib/a.service", shipped)] + dropIns
        return UnitSettings(values: values, files: files.map { UnitSettings.File(path: $0.0, text: $0.1) })
    }

    @Test(
        arguments: [
            (["User": .text("svc"), "DynamicUser": .flag(false)], "svc"),
            (["User": .text(""), "DynamicUser": .flag(false)], "root"),
            (["User": .text("x"), "DynamicUser": .flag(true)], nil), ([:], nil),
        ] as [([String: UnitSettings.Value], String?)])
    func theUserIsThatInEffect(values: [String: UnitSettings.Value], user: String?) {
        #expect(settings(values).user == user)
    }

    /// systemd strips them, and carriage returns.
    @Test(arguments: ["\r\n", " \n", "\t\n"]) func blanksAtTheEndsOfLinesMeanNothing(end: String) {
        let file = UnitSettings.File(path: "/usr/lib/a.service", text: "[Service]\(end)ProtectProc=invisible\(end)")
        let settings = UnitSettings(values: ["ProtectProc": .text("default")], files: [file])
        #expect(settings.weaknesses.map(\.setting) == ["ProtectProc=default"])
    }

    @Test func aDropInThatLimitsTheAddressesIsNamed() throws {
        let dropIn = (path: "/etc/a.service.d/net.conf", text: "[Service]\nIPAddressAllow=\nIPAddressAllow=192.0.2.7\n")
        let limit = try #require(settings([:], [dropIn]).addressLimit)
        #expect(limit.setting == "IPAddressAllow" && limit.file == "/etc/a.service.d/net.conf" && limit.line == 3)
        #expect(settings([:], [("/run/service.d/lxc.conf", containers)]).addressLimit == nil)
        let wider = (path: "/run/a.service.d/more.conf", text: "[Service]\nIPAddressAllow=127.0.0.0/8 ::1/128\n")
        #expect(settings([:], [wider]).addressLimit == nil, "it allows more")
    }

    @Test func settingsThatADropInWeakensAreNamed() {
        let found = settings(
            [
                "NoNewPrivileges": .flag(false), "PrivateNetwork": .flag(false), "ProtectProc": .text("default"),
                "ProtectHome": .text("yes"), "LockPersonality": .flag(false), "PrivateUsers": .flag(false),
            ], [("/run/service.d/lxc.conf", containers)]
        ).weaknesses
        #expect(found.map(\.setting) == ["NoNewPrivileges=no", "PrivateNetwork=no", "ProtectProc=default"])
        #expect(found.allSatisfy { $0.file == "/run/service.d/lxc.conf" })
    }

    @Test func anEqualProtectionIsNoWeakness() {
        let found = settings([
            "NoNewPrivileges": .flag(true), "PrivateNetwork": .flag(true), "ProtectProc": .text("invisible"),
            "ProtectHome": .text("tmpfs"), "CapabilityBoundingSet": .number(0), "RestrictNamespaces": .number(0),
            "SystemCallFilter": .filter(isAllowList: true, ["read"]),
        ])
        #expect(found.weaknesses == [])
        let weaker = settings([
            "CapabilityBoundingSet": .number(1), "RestrictNamespaces": .number(1),
            "SystemCallFilter": .filter(isAllowList: false, []),
        ])
        let names = ["CapabilityBoundingSet=…", "RestrictNamespaces=no", "SystemCallFilter="]
        #expect(weaker.weaknesses.map(\.setting) == names)
    }

    @Test func aCredentialThatALaterFileTakesAwayIsNamed() {
        let own = (path: "/etc/a.service.d/key.conf", text: "[Service]\nLoadCredential=apple-key:/etc/key\n")
        let lxc = (path: "/run/service.d/zzz.conf", text: containers)
        // What is passed instead of a file that does not exist does not replace the file.
        let stays: UnitSettings.Value = .list(["config"])
        let removed = settings(["LoadCredential": .list([]), "SetCredential": stays], [own, lxc]).removedCredentials
        #expect(
            removed.map(\.assignment) == ["LoadCredential=config:/etc/config", "LoadCredential=apple-key:/etc/key"])
        #expect(removed.allSatisfy { $0.file == lxc.path })
        let again = (path: "/etc/a.service.d/zzzz.conf", text: own.text)
        let restored = settings(["LoadCredential": .list(["apple-key"]), "SetCredential": stays], [own, lxc, again])
        #expect(restored.loads("apple-key"))
        #expect(restored.removedCredentials.map(\.name) == ["config"])
        let set = (path: "/etc/a.service.d/zzzzz.conf", text: "[Service]\nSetCredential=config:hidden\n")
        #expect(settings(["SetCredential": stays], [lxc, set]).removedCredentials == [])
        let unset = (path: "/etc/a.service.d/zzzzzz.conf", text: "[Service]\nSetCredential=\n")
        #expect(settings([:], [set, unset]).removedCredentials.map(\.assignment) == ["SetCredential=config:…"])
        #expect(settings(["LoadCredential": .list(["store"])]).loads("store_password"))
    }

    @Test func anEnvironmentFileThatALaterFileTakesAwayIsNamed() {
        let own = (path: "/etc/a.service.d/a.conf", text: "[Service]\nEnvironmentFile=-/srv/.env\nEnvironmentFile=/b\n")
        let reset = (path: "/etc/a.service.d/b.conf", text: "[Service]\nEnvironmentFile=\nEnvironmentFile=/b\n")
        let found = settings(["EnvironmentFiles": .list(["/b"])], [own, reset]).removedEnvironmentFiles
        #expect(found.map(\.path) == ["/srv/.env"])
        #expect(found.map(\.file) == [reset.path])
        #expect(settings(["EnvironmentFiles": .list(["/srv/.env", "/b"])], [own]).removedEnvironmentFiles.isEmpty)
    }

    /// What a unit that runs was started with says nothing about its next start.
    @Test func theNextStartNeedsTheFilesThatTheUnitNames() throws {
        let directory = try TemporaryDirectory()
        try directory.write("", to: "there")
        func needs(
            _ name: String, _ items: [UnitSettings.Item], _ others: [String: UnitSettings.Value] = [:]
        ) -> [String] {
            let values = others.merging([name: .items(items)]) { $1 }
            return settings(values).missing.map { "\($0.setting)=\($0.path)" }
        }
        let (there, none) = (directory("there"), directory("none"))
        for name in ["LoadCredential", "LoadCredentialEncrypted"] {
            let credential = [UnitSettings.Item(name: "key", path: none)]
            #expect(needs(name, credential) == ["\(name)=\(none)"])
            #expect(needs(name, [UnitSettings.Item(name: "key", path: there)]) == [])
            // Without the file it is the text that is set.
            #expect(needs(name, credential, ["SetCredential": .items([UnitSettings.Item(name: "key")])]) == [])
            // A credential of systemd's own may be missing.
            #expect(needs(name, [UnitSettings.Item(name: "key", path: "key")]) == [])
        }
        for (name, setting) in [
            ("EnvironmentFiles", "EnvironmentFile"), ("BindReadOnlyPaths", "BindReadOnlyPaths"),
            ("ExecStart", "ExecStart"),
        ] {
            #expect(needs(name, [UnitSettings.Item(name: none)]) == ["\(setting)=\(none)"])
            #expect(needs(name, [UnitSettings.Item(name: there)]) == [])
            #expect(needs(name, [UnitSettings.Item(name: none, isOptional: true)]) == [])
        }
        #expect(needs("EnvironmentFiles", [UnitSettings.Item(name: directory("*.env"))]) == [])
        #expect(settings(["WorkingDirectory": .text(none)]).missing.map(\.setting) == ["WorkingDirectory"])
        // "!" is systemd's mark for one that may be missing.
        #expect(settings(["WorkingDirectory": .text("!" + none)]).missing == [])
        // A path may be missing where a "-" is before it, also beside a "+".
        for name in ["ReadWritePaths", "InaccessiblePaths", "ExecPaths"] {
            let paths = [none, "+\(directory("other"))", "-\(directory("third"))", "+-\(directory("fourth"))", there]
            #expect(settings([name: .list(paths)]).missing.map(\.path) == [none, directory("other")])
            #expect(settings([name: .list(paths), "RootDirectory": .text("/srv")]).missing == [])
        }
    }

    /// systemd follows no link there, but for the one that it makes itself for a dynamic user.
    @Test func aLinkWhereSystemdMakesADirectoryKeepsTheUnitFromItsStart() throws {
        let directory = try TemporaryDirectory()
        try directory.folder("there")
        try directory.link("link", to: "there")
        func missing(_ name: String, _ others: [String: UnitSettings.Value] = [:]) -> [UnitSettings.Need] {
            settings(others.merging(["StateDirectory": .list(["../..\(directory(name))"])]) { $1 }).missing
        }
        #expect(missing("there") == [] && missing("none") == [])
        #expect(missing("link").map(\.isLink) == [true])
        #expect(missing("link", ["DynamicUser": .flag(true)]) == [])
    }

    @Test func whatSystemdMakesOrMountsItselfIsNotMissing() {
        func missing(_ values: [String: UnitSettings.Value]) -> [String] {
            settings(values).missing.map { "\($0.setting)=\($0.path)" }
        }
        let program: UnitSettings.Value = .items([UnitSettings.Item(name: "/run/no-such/bin/app")])
        let needs: [String: UnitSettings.Value] = [
            "BindPaths": .items([UnitSettings.Item(name: "/run/no-such", path: "/srv/no-such")]),
            "ReadWritePaths": .list(["/run/no-such/sub"]), "WorkingDirectory": .text("/run/no-such/sub"),
            "ExecStart": program,
        ]
        #expect(missing(needs).count == 4)
        let made = needs.merging(["RuntimeDirectory": .list(["no-such/sub"])]) { $1 }
        #expect(missing(made) == ["ExecStart=/run/no-such/bin/app"])
        #expect(missing(["ExecStart": program, "RuntimeDirectory": .list(["no-such"])]) == [])
        // A file in such a directory has to be there before the first of the unit's commands runs.
        let key: UnitSettings.Value = .items([UnitSettings.Item(name: "key", path: "/run/no-such/key")])
        #expect(missing(["LoadCredential": key, "RuntimeDirectory": .list(["no-such"])]).count == 1)
        let mount = UnitSettings.Item(name: "/srv/none", path: "/run/no-such", isOptional: true)
        #expect(missing(["ExecStart": program, "BindReadOnlyPaths": .items([mount])]) == [])
        #expect(missing(["ExecStart": program, "MountImages": .items([mount])]) == [])
        #expect(missing(["ExecStart": program, "ExtensionImages": .items([UnitSettings.Item(name: "/a.raw")])]) == [])
    }

    /// The daemon's start allows a helper this machine's own addresses in a drop-in, and a later one may clear the list.
    @Test func aLaterFileThatClearsTheAllowedAddressesIsNamed() {
        func file(_ dropIns: [(path: String, text: String)], deny: String = "any") -> String? {
            let own = "[Service]\nIPAddressDeny=\(deny)\nIPAddressAllow=127.0.0.53\n"
            let files = [("/usr/lib/z.service", own)] + dropIns
            return UnitSettings(values: [:], files: files.map { UnitSettings.File(path: $0.0, text: $0.1) })
                .fileAgainstLoopback(despite: "b.conf")
        }
        let allowing = (path: "/run/z.service.d/b.conf", text: "[Service]\nIPAddressAllow=127.0.0.0/8 ::1/128\n")
        let clearing = (
            path: "/etc/z.service.d/c.conf", text: "[Service]\nIPAddressAllow=\nIPAddressAllow=17.0.0.0/8\n"
        )
        #expect(file([]) == nil && file([allowing]) == nil)
        #expect(file([allowing, clearing]) == clearing.path)
        #expect(file([clearing]) == clearing.path, "the drop-in comes with the daemon's next start")
        #expect(file([("/etc/z.service.d/a.conf", clearing.text), allowing]) == nil)
        #expect(file([allowing, ("/etc/c.conf", clearing.text + "IPAddressAllow=localhost\n")]) == nil)
        #expect(file([allowing, clearing], deny: "link-local") == nil)
        #expect(file([allowing, clearing, ("/etc/d.conf", "[Service]\nIPAddressDeny=\n")]) == nil)
    }

    @Test(arguments: [
        ("", nil), ("ExecStart=", nil), ("ExecStart=\nExecStart=/bin/network verify --timeout 9", nil),
        ("ExecStart=\nExecStart=/bin/network verify --endpoint https://[::1]:8443 --timeout 9", "https://[::1]:8443"),
        ("ExecStart=\nExecStart=/bin/network verify \\\n  --endpoint='https://localhost'", "https://localhost"),
        ("ExecStart=\nExecStart=/bin/network verify --endpoint", nil),
    ])
    func aFlagOfTheCommandInEffectIsRead(dropIn: String, value: String?) {
        let files = [
            ("/usr/lib/z.service", "[Service]\nExecStart=/bin/network verify\n"),
            ("/etc/z.conf", "[Service]\n\(dropIn)\n"),
        ]
        let settings = UnitSettings(values: [:], files: files.map { UnitSettings.File(path: $0.0, text: $0.1) })
        #expect(settings.value(ofFlag: "--endpoint") == value)
    }

    @Test func accountsThatDoNotExistAreKnown() {
        func unknown(_ values: [String: UnitSettings.Value]) -> [String] {
            settings(values).unknownAccounts.map { "\($0.setting)=\($0.name)" }
        }
        let plain: [String: UnitSettings.Value] = ["DynamicUser": .flag(false), "User": .text("no-such-user")]
        #expect(unknown(plain) == ["User=no-such-user"])
        #expect(unknown(["DynamicUser": .flag(false), "User": .text("root"), "Group": .text("root")]) == [])
        let groups: [String: UnitSettings.Value] = [
            "Group": .text("no-such-group"), "SupplementaryGroups": .list(["root", "no-other", "4000000000"]),
        ]
        #expect(unknown(groups) == ["Group=no-such-group", "SupplementaryGroups=no-other"])
        // systemd makes both.
        #expect(unknown(["DynamicUser": .flag(true), "User": .text("csp-a"), "Group": .text("csp-a")]) == [])
    }

    @Test(
        arguments: [
            ("success", 0, nil), ("exit-code", 1, nil), ("exit-code", 226, "exit status 226, see systemd.exec(5)"),
            ("signal", 9, nil), ("resources", 0, "resources"), ("start-limit-hit", 0, "start-limit-hit"),
        ] as [(String, UInt64, String?)])
    func aStartThatSystemdGaveUpIsToldFromAProgramThatFailed(result: String, status: UInt64, failure: String?) {
        let values: [String: UnitSettings.Value] = ["Result": .text(result), "ExecMainStatus": .number(status)]
        #expect(settings(values).startFailure == failure)
    }

    @Test func aUserThatSystemdDoesNotTakeIsKnown() {
        func isUsable(_ user: String) -> Bool {
            settings(["User": .text(user), "DynamicUser": .flag(true)]).hasUsableUser
        }
        #expect(isUsable("csp-production_2") && isUsable(String(repeating: "a", count: 31)))
        #expect(!isUsable("csp-a.b") && !isUsable(String(repeating: "a", count: 32)))
        #expect(settings(["User": .text("a.b"), "DynamicUser": .flag(false)]).hasUsableUser)
    }
}
