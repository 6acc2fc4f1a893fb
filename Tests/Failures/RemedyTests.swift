import TestSupport
import Testing

@testable import Failures

/// What root is told to type: for every command that changes something, that it is only made where it is safe.
@Suite struct RemedyTests {
    private static let root = PathComponent.User.root
    private static let app = PathComponent.User(id: 1000, name: "app")

    private static func component(
        _ path: String, _ kind: PathComponent.Kind, owner: UInt32 = 0, mode: UInt16 = 0o644, trusted: Bool = true,
        list: Bool = false, keeper: PathComponent.User? = .root
    ) -> PathComponent {
        PathComponent(
            path: path, kind: kind, owner: owner, group: 0, mode: mode, isTrusted: trusted, hasAccessList: list,
            keeper: keeper)
    }

    @Test func aShellReadsBackWhatWasQuoted() throws {
        let words = ["a b", "it's", "$(id)", "`id`", "a;b", "*", "~", "#", "é", "\"", "\\", "line\nbreak", "!", ""]
        let command = "printf '%s\\0' " + words.map(ShellWord.quoted).joined(separator: " ")
        #expect(try run(["sh", "-c", command]).output == words.map { $0 + "\0" }.joined())
        #expect(ShellCommand.list("/a/b-c_d.e:f,g@h%i+j=")?.text == "ls -ld /a/b-c_d.e:f,g@h%i+j=")
        #expect(ShellCommand.list("; curl evil|sh")?.text == "ls -ld '; curl evil|sh'")
    }

    @Test(arguments: ["a\u{1B}[2J", "a\nrm -rf /", "\u{202E}", "a\u{FFFD}", "\u{7F}"])
    func aNameThatCannotBePastedGivesNoCommand(name: String) {
        #expect(ShellCommand.list(name) == nil)
        #expect(ShellCommand.removeLink(Self.component(name, .link)) == nil)
        #expect(
            ShellCommand.makeDirectory(
                name, from: name, in: Self.component("/srv", .directory, mode: 0o755), for: Self.app) == nil)
        #expect(Remedy.strangers(name).command == nil)
    }

    /// systemd stops what runs before it finds that it cannot start it again.
    @Test func aUnitThatCannotStartIsNotRestarted() async {
        await #expect(processExitsWith: .success) {
            var context = CommandContext.current
            context.unstartable = ["a.service", PackageUnit.daemon]
            context.use()
            for command in [
                ShellCommand.restart("a.service"), .start("a.service"), .enableNow("a.service"), .startAgain,
                .reloadUnit("a.service"),
                .passStatusSocket, .listenAgain("a.socket", of: "a.service", isWanted: true),
            ] {
                #expect(command == nil, "\(command?.text ?? "")")
            }
            #expect(ShellCommand.restart("b.service")?.text == "systemctl restart b.service")
            let added = ShellCommand.addSettings(["A=b"], to: "a.service")?.text
            #expect(added?.hasSuffix(" && systemctl daemon-reload") == true)
        }
    }

    /// Without the daemon its next start would fail.
    @Test func aReaderIsRestartedOnlyOnceTheDaemonServesIt() async {
        await #expect(processExitsWith: .success) {
            for (hasDaemon, isUnstartable, end) in [
                (true, false, "daemon-reload && clientsecretd reload web && systemctl try-restart a.service"),
                (false, false, ">>/etc/systemd/system/a.service.d/outputs.conf) && systemctl daemon-reload"),
                (true, true, ">>/etc/systemd/system/a.service.d/outputs.conf) && systemctl daemon-reload"),
            ] {
                var context = CommandContext.current
                context.hasDaemon = hasDaemon
                context.unstartable = isUnstartable ? ["a.service"] : []
                context.use()
                let text = ShellCommand.addSettings(["A=b"], toReader: "a.service", of: "web")?.text ?? ""
                #expect(text.hasSuffix(end), "\(text)")
            }
        }
    }

    /// A single run ends with the failure.
    @Test func onlyADaemonTriesAgain() async {
        await #expect(processExitsWith: .success) {
            for (hasDaemon, words) in [(true, "wait: the daemon tries again"), (false, "run this again later")] {
                var context = CommandContext.current
                context.hasDaemon = hasDaemon
                context.use()
                for code in [FailureCode.pushRateLimited, .pushServerFailed, .pushTimedOut] {
                    #expect(code.remedy(for: FailureSubject())?.description == words)
                }
            }
        }
    }

    @Test func aUnitIsOpenedWhereItsSandboxIsInTheWay() {
        #expect(
            ShellCommand.letWrite(to: "/srv/app", readOnlyBy: .sandbox)?.text
                == "(umask 022 && mkdir -p /etc/systemd/system/clientsecretd.service.d && "
                + #"printf '%s\n' '' '[Service]' ReadWritePaths=-/srv/app >>/etc/systemd/system/clientsecretd.service.d/outputs.conf"#
                + ") && systemctl daemon-reload && systemctl try-restart clientsecretd.service")
        #expect(ShellCommand.letWrite(to: "/srv/app", readOnlyBy: .mount("/srv")) == nil)
        #expect(
            ShellCommand.addSettings([#"ReadWritePaths="-/a b""#, "ProtectHome=tmpfs"], to: "a.service")?.text
                == #"(umask 022 && mkdir -p /etc/systemd/system/a.service.d && printf '%s\n' '' '[Service]' 'ReadWritePaths="-/a b"'"#
                + " ProtectHome=tmpfs >>/etc/systemd/system/a.service.d/outputs.conf"
                + ") && systemctl daemon-reload && systemctl try-restart a.service")
        #expect(ShellCommand.addSettings(["ReadWritePaths=-/a\u{1B}[2Jb"], to: "a.service") == nil)
        #expect(ShellCommand.letWrite(to: "/srv/app", readOnlyBy: .fileSystem("/srv")) == nil)
    }

    /// Created with the rights of whoever controls the way; given away only where root alone does.
    @Test func aDirectoryIsCreatedAndNoExistingOneChanged() {
        func command(_ parent: PathComponent, _ path: String = "/srv/a/b c") -> String? {
            ShellCommand.makeDirectory(path, from: "/srv/a", in: parent, for: Self.app, mode: "0700")?.text
        }
        let given = "mkdir -m 0755 /srv/a && install -d -m 0700 '/srv/a/b c' && chown app '/srv/a/b c'"
        #expect(
            command(Self.component("/srv", .directory, mode: 0o755), "/srv/a")
                == "mkdir -m 0700 /srv/a && chown app /srv/a")
        #expect(command(Self.component("/srv", .directory, mode: 0o755)) == given)
        #expect(
            command(Self.component("/srv", .directory, owner: 1000, mode: 0o755, keeper: Self.app))
                == "runuser -u app -- mkdir -m 0755 /srv/a && runuser -u app -- install -d -m 0700 '/srv/a/b c'")
        let other = PathComponent.User(id: 7, name: "other")
        for parent in [
            Self.component("/srv", .directory, mode: 0o777), Self.component("/srv", .directory, mode: 0o2775),
            Self.component("/srv", .directory, mode: 0o1777), Self.component("/srv", .directory, mode: 0o1775),
            Self.component("/srv", .directory, owner: 1000, mode: 0o1777, keeper: Self.app),
            Self.component("/srv", .directory, mode: 0o755, list: true),
            Self.component("/srv", .directory, owner: 7, mode: 0o755, keeper: other),
            Self.component("/srv", .directory, mode: 0o755, keeper: nil), Self.component("/srv", .link),
            Self.component("/srv", .file),
        ] {
            #expect(command(parent) == nil)
        }
    }

    /// What is there is never given away: it is described for the boot only once `mkdir` has made it.
    @Test func aDirectoryThatARebootRemovesIsMadeAgain() async {
        func command(
            _ path: String, from first: String, mode: String = "0755", group: String? = nil,
            owner: UInt32 = 0, keeper: PathComponent.User = .root
        ) -> String? {
            let parent = Self.component("/run", .directory, owner: owner, mode: 0o755, keeper: keeper)
            return ShellCommand.makeDirectory(
                path, from: first, in: parent, for: Self.app, mode: mode, group: group, isVolatile: true)?.text
        }
        let file = "/etc/tmpfiles.d/clientsecretd.outputs.conf"
        #expect(
            command("/run/a", from: "/run/a")
                == #"mkdir -m 0755 /run/a && chown app /run/a && (umask 022 && printf '%s\n' '' 'd /run/a 0755 app root' >>\#(file))"#
        )
        #expect(
            command("/run/a/b 50%", from: "/run/a", mode: "2750", group: "www")
                == "mkdir -m 0755 /run/a && install -d -m 2750 '/run/a/b 50%' && chown app:www '/run/a/b 50%' && "
                + #"(umask 022 && printf '%s\n' '' 'd "/run/a/b 50%%" 2750 app www' >>\#(file))"#)
        // At the boot root would follow what its owner put there.
        #expect(command("/run/a", from: "/run/a", owner: 1000, keeper: Self.app) == nil)
        await #expect(processExitsWith: .success) {
            CommandContext(hasSystemd: false).use()
            let parent = Self.component("/run", .directory, mode: 0o755)
            #expect(
                ShellCommand.makeDirectory("/run/a", from: "/run/a", in: parent, for: Self.app, isVolatile: true) == nil
            )
        }
    }

    /// Of two files of tmpfiles.d that describe one path, the first by name counts.
    @Test func theShippedDirectoriesStayAsTheyAreShipped() {
        #expect(ShellCommand.createShippedDirectories.text == "systemd-tmpfiles --create clientsecretd.conf")
        let name = ShellCommand.runtimeDirectories.split(separator: "/").last.map(String.init) ?? ""
        #expect(Array("clientsecretd.conf".utf8).lexicographicallyPrecedes(name.utf8), "\(name)")
    }

    /// Whatever umask root has, and whether or not the file ends with a line break.
    @Test(arguments: ["", "// mine", "// mine\n"])
    func anAppendedLineMayBeReadByAll(old: String) throws {
        let scratch = try TemporaryDirectory()
        let file = scratch("rules")
        if !old.isEmpty { _ = try scratch.write(old, to: "rules", mode: 0o640) }
        let command = try #require(ShellCommand.addPolkitRule("a(\"b\");", to: file))
        try #require(run(["sh", "-c", "umask 077; \(command.text)"]).status == 0)
        let lines = try scratch.read("rules").split(separator: "\n")
        #expect(lines == (old.isEmpty ? [] : ["// mine"]) + ["a(\"b\");"])
        let mode = try run(["stat", "-c", "%a", file]).output
        #expect(mode.hasPrefix(old.isEmpty ? "644" : "640"))
    }

    /// A line that takes no effect would be added again with each `check --fix`.
    @Test func aLineIsAddedOnlyToAFileThatLacksIt() async {
        await #expect(processExitsWith: .success) {
            let unit = ShellCommand.outputsFile(of: "a.service").path
            let isMatched = unit.hasPrefix("/etc/systemd/system/") && unit.hasSuffix(".d/outputs.conf")
            #expect(isMatched && ShellCommand.outputsFiles == "/etc/systemd/system/*.d/outputs.conf")
            let directory = PathComponent(
                path: "/run", kind: .directory, owner: 0, group: 0, mode: 0o755, isTrusted: true, hasAccessList: false,
                keeper: .root)
            var context = CommandContext.current
            context.addedLines = [
                ShellCommand.runtimeDirectories: ["d /run/a 0755 root root"],
                unit: [
                    "[Service]", "LoadCredential=x:/s", "ReadWritePaths=-/a", "ReadWritePaths=-/b", "ExecPaths=/c",
                    "ExecPaths=", "LoadCredential=y:/s", "LoadCredential=x:/other",
                ],
            ]
            context.use()
            #expect(
                ShellCommand.makeDirectory("/run/a", from: "/run/a", in: directory, for: .root, isVolatile: true)?.text
                    == "mkdir -m 0755 /run/a")
            let isRead = "systemctl daemon-reload && systemctl try-restart a.service"
            for line in ["ReadWritePaths=-/a", "ReadWritePaths=-/b", "LoadCredential=y:/s"] {
                #expect(ShellCommand.addSettings([line], to: "a.service")?.text == isRead, "\(line)")
            }
            // Undone by a later line, or of another unit.
            for line in ["ExecPaths=/c", "LoadCredential=x:/s"] {
                #expect(ShellCommand.addSettings([line], to: "a.service")?.text.contains("printf") == true, "\(line)")
            }
            #expect(ShellCommand.addSettings(["ReadWritePaths=-/a"], to: "b.service")?.text.contains("printf") == true)
            let both = ShellCommand.addSettings(["ReadWritePaths=-/a", "ReadWritePaths=-/c"], to: "a.service")?.text
            #expect(both?.contains("'[Service]' ReadWritePaths=-/c >>") == true, "\(both ?? "")")
        }
    }

    /// systemd refuses to start a socket while its service runs, and does nothing for one that is active without its file.
    @Test func aSocketIsStartedWhileItAndItsServiceAreStopped() {
        #expect(
            ShellCommand.listenAgain("a.socket", of: "d.service", isWanted: true)?.text
                == "systemctl reset-failed a.socket && systemctl stop a.socket d.service && "
                + "systemctl start a.socket d.service")
        #expect(
            ShellCommand.listenAgain("w@a.socket", of: "w@a.service", isWanted: false)?.text
                == "systemctl reset-failed w@a.socket && systemctl stop w@a.socket w@a.service && "
                + "systemctl start w@a.socket")
        #expect(
            ShellCommand.listenAgain("v.socket", of: nil, isWanted: false)?.text
                == "systemctl reset-failed v.socket && systemctl stop v.socket && systemctl start v.socket")
        #expect(ShellCommand.passStatusSocket?.text == "systemctl restart clientsecretd.service")
        #expect(
            ShellCommand.startAgain?.text
                == "systemctl stop clientsecretd.service && systemctl start clientsecretd.service")
    }

    /// The unit that was found; the package's only for the package's configuration and socket.
    @Test func theUnitIsNeverGuessed() {
        #expect(CommandContext().daemonUnit == "clientsecretd.service")
        #expect(CommandContext(configuration: "/etc/b.yaml").daemonUnit == nil)
        #expect(CommandContext(socket: "/run/b.sock").daemonUnit == nil)
        #expect(CommandContext(configuration: "/etc/b.yaml", unit: "b.service").daemonUnit == "b.service")
        #expect(CommandContext(unit: "clientsecretd-once.service").daemonUnit == "clientsecretd-once.service")
        #expect(ShellCommand.restart(nil) == nil)
        #expect(ShellCommand.reloadUnit(nil) == nil)
        #expect(ShellCommand.letWrite(nil, to: "/srv", readOnlyBy: .sandbox) == nil)
    }

    @Test func onlyALinkIsRemoved() {
        #expect(
            ShellCommand.removeLink(Self.component("/srv/l", .link, owner: 7))?.text == "test -L /srv/l && rm /srv/l")
        #expect(
            ShellCommand.removeLink(Self.component("/srv/l", .link, owner: 7, keeper: Self.app))?.text
                == "runuser -u app -- find /srv/l -maxdepth 0 -type l -delete")
        #expect(ShellCommand.removeLink(Self.component("/srv/l", .link, owner: 7, keeper: nil)) == nil)
        for kind in [PathComponent.Kind.file, .directory, .other] {
            #expect(ShellCommand.removeLink(Self.component("/srv/l", kind, owner: 7)) == nil)
        }
    }

    /// No mode that is printed has a bit that the key did not have, but its owner's.
    @Test(arguments: [UInt16(0o600), 0o400, 0o644, 0o640, 0o660, 0o666, 0o604, 0o601, 0o777, 0o4755], [true, false])
    func aKeyIsOnlyEverTakenFromItsReaders(mode: UInt16, isGroups: Bool) throws {
        let key = Self.component("/k", .file, mode: mode)
        let words = try #require(ShellCommand.guardKey(key, group: isGroups)?.text).split(separator: " ")
        let new = try #require(UInt16(words[1], radix: 8))
        #expect(new & 0o077 & ~mode == 0 && new & 0o037 == 0)
        #expect(isGroups || new & 0o077 == 0)
    }

    @Test func aGroupThatMayNeedAKeyIsKnown() {
        func isOpen(_ group: UInt32, _ mode: UInt16) -> Bool {
            PathComponent(
                path: "/k", kind: .file, owner: 0, group: group, mode: mode, isTrusted: true, keeper: .root
            ).isOpen(toGroupOtherThan: [7])
        }
        #expect(isOpen(8, 0o640) && isOpen(8, 0o644) && isOpen(8, 0o660))
        #expect(!isOpen(8, 0o600) && !isOpen(8, 0o604) && !isOpen(7, 0o640) && !isOpen(0, 0o640))
    }

    @Test func nothingIsDoneToWhatAStrangerPlacedOrControls() {
        let stranger = Self.component("/f", .file, owner: 7, mode: 0o666, trusted: false)
        let unkept = Self.component("/f", .file, mode: 0o666, keeper: nil)
        let folder = Self.component("/f", .directory, mode: 0o777)
        let link = Self.component("/f", .link, mode: 0o777)
        for file in [stranger, unkept, folder, link] {
            #expect(ShellCommand.removeWriting(from: file) == nil)
            #expect(ShellCommand.setMode("0640", of: file) == nil)
            #expect(ShellCommand.guardKey(file, group: true) == nil)
            #expect(ShellCommand.shareKey(file, withServiceGroup: "clientsecretd") == nil)
            #expect(ShellCommand.removeEntries(["u:7"], ofFile: file) == nil)
            #expect(ShellCommand.makeExecutable(file) == nil)
            #expect(ShellCommand.removeMark("i", from: file) == nil)
        }
        // The mask of an access list is what its mode shows: the daemon may read by an entry of it.
        let listed = Self.component("/k", .file, mode: 0o640, list: true)
        #expect(ShellCommand.guardKey(listed, group: false) == nil)
        #expect(ShellCommand.setMode("0640", of: listed) == nil)
        #expect(ShellCommand.shareKey(listed, withServiceGroup: "clientsecretd") == nil)
    }

    @Test func filesForTheServiceAreShared() {
        #expect(
            ShellCommand.shareKey(Self.component("/k", .file, mode: 0o600), withServiceGroup: "clientsecretd")?.text
                == "chmod 0600 /k && chgrp clientsecretd /k && chmod 0640 /k")
        for key in [
            Self.component("/k", .file, owner: 1000, mode: 0o600),
            Self.component("/k", .file, mode: 0o600, keeper: Self.app),
        ] {
            #expect(ShellCommand.shareKey(key, withServiceGroup: "clientsecretd") == nil)
        }
        // Executable is what everybody may read already: a program may hold a secret.
        #expect(ShellCommand.makeExecutable(Self.component("/h", .file, mode: 0o644))?.text == "chmod a+x /h")
        #expect(ShellCommand.makeExecutable(Self.component("/h", .file, mode: 0o640)) == nil)
    }

    @Test func aCommandFixesAndAllElseStandsInParentheses() {
        #expect(
            Remedy.say("free some space", see: .showSpace(in: "/srv/a b")).description
                == "free some space (df -h --output '/srv/a b')")
        #expect(Remedy.say("free some space", see: .showSpace(in: "/srv")).command == nil)
        #expect(Remedy.say("a\u{1B}").description == #"a\x1b"#)
        #expect(Remedy.say("load it", run: .reload).description == "load it: clientsecretd reload")
        #expect(Remedy.say("load it", run: nil).description == "load it")
        #expect(Remedy.run(nil, otherwise: "load it").description == "load it")
        #expect(Remedy.strangers("/tmp/l").command == nil)
        #expect(ShellCommand.start("-x.service") == nil)
    }
}
