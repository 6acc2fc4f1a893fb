import Config
import Failures
import Foundation
import Linux
import Model
import Outputs
import Systemd
import TestSupport
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
        let unit = UnitInEffect(
            name: "a.service", settings: UnitSettings(values: shipped.merging(values) { $1 }, files: []))
        return unit.objection(to: try #require(AbsolutePath(path)))
    }

    @Test func aFileThatTheSandboxHidesIsNamed() throws {
        let path = "/etc/clientsecretd/ca.pem"
        #expect(
            try objection(to: path) == "a.service does not see \(path) (InaccessiblePaths=/etc/clientsecretd)")
        #expect(try objection(to: "/root/ca.pem") == "a.service does not see /root/ca.pem (ProtectHome=yes)")
    }

    @Test func aPlaceThatIsHiddenTooIsNotProposed() throws {
        func remedy(_ hidden: [String]) throws -> String {
            let settings = UnitSettings(values: ["InaccessiblePaths": .list(hidden)], files: [])
            let path = try #require(AbsolutePath("/etc/clientsecretd/ca.pem"))
            return UnitInEffect(name: "a.service", settings: settings).remedy(forCAFile: path).description
        }
        let move = "put it below /etc/ssl, readable by every user, and write \"ca_file: /etc/ssl/ca.pem\""
        #expect(try remedy(["/etc/clientsecretd"]) == move)
        #expect(
            try remedy(["/etc/clientsecretd", "/etc/ssl"])
                == "remove InaccessiblePaths=/etc/ssl with systemctl edit a.service, and restart a.service, then \(move)"
        )
        #expect(
            try remedy(["/etc"]) == "remove InaccessiblePaths=/etc with systemctl edit a.service, and restart a.service"
        )
    }

    /// No line helps if the settings let it write already, or close that very directory.
    @Test func aWriterIsToBeLetWriteOnlyIfItsSettingsKeepItFromIt() throws {
        let unit = PackageUnit.writer(of: "app")
        let path = try #require(AbsolutePath("/srv/no-such/web.jwt"))
        let met = Failure(
            .readOnlyFileSystem, at: .path(path), remedy: OutputRemedy.ofReadOnly(path.directory, for: unit))
        func explained(_ failure: Failure, _ values: [String: UnitSettings.Value]) -> Failure {
            UnitInEffect(name: unit, settings: UnitSettings(values: values, files: []))
                .explaining(failure, needing: nil)
        }
        #expect(explained(met, ["ProtectSystem": .text("strict")]) == met)
        let opened = explained(met, ["ProtectSystem": .text("yes")])
        #expect(opened.remedy?.description == "mount it writable, or write another path")
        // Such as that of a link.
        let other = met.with(.say("remove the link"))
        #expect(explained(other, ["ProtectSystem": .text("yes")]) == other)
        let closed = explained(met, ["ReadOnlyPaths": .list(["/srv/no-such"])])
        #expect(closed.remedy?.description == "write another path")
        #expect(closed.detail == "\(unit) may not write to /srv/no-such (ReadOnlyPaths=/srv/no-such)")
        #expect(UnitInEffect.subject(of: met, writer: "app", token: { _ in nil })?.unit == unit)
        #expect(UnitInEffect.subject(of: met, writer: nil, token: { _ in nil })?.unit == nil)
    }

    /// Its writer decides where secrets go. systemd reads the file, whatever its mode is.
    @Test(arguments: ["LoadCredential", "LoadCredentialEncrypted"])
    func aSourceOfACredentialThatOthersCanChangeIsNamed(setting: String) throws {
        let directory = try TemporaryDirectory()
        let path = try directory.write("token", to: "token")
        let settings = UnitSettings(values: [setting: .items([.init(name: "token", path: path)])], files: [])
        func words(_ mode: Int, _ credential: String = "token") throws -> String? {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
            return CredentialSources.exposure(of: credential, settings, as: .current())?.detail
        }
        #expect(try words(0o600) == nil)
        #expect(try words(0o644) == nil)
        #expect(try words(0o666) == "\(path): the file is writable by its group and every other user")
        #expect(try words(0o666, "other") == nil)
    }

    @Test func aTokenThatSystemdPassesOnIsJudgedAsOneInAFile() throws {
        let directory = try TemporaryDirectory()
        let path = directory("token")
        func words(_ text: String?, by setting: String = "LoadCredential") throws -> String? {
            try? FileManager.default.removeItem(atPath: path)
            if let text { try directory.write(text, to: "token", mode: 0o600) }
            let settings = UnitSettings(values: [setting: .items([.init(name: "token", path: path)])], files: [])
            switch CredentialSources.token(of: "token", settings, as: .current()) {
            case .success(let token): return token
            case .failure(let problem): return problem.words
            case nil: return nil
            }
        }
        #expect(try words("abc\n") == "abc")
        #expect(try words("\n") == "\(path) is empty or not text")
        #expect(try words("\n", by: "LoadCredentialEncrypted") == nil)
        // The unit does not start without it.
        #expect(try words(nil) == nil)
    }

    @Test func aServiceWhoseUserSystemdDoesNotAcceptCannotStart() {
        func messages(_ user: String) -> [String] {
            let settings = UnitSettings(values: ["DynamicUser": .flag(true), "User": .text(user)], files: [])
            let unit = UnitInEffect(name: "clientsecretd-push@eu.shop.service", settings: settings)
            return unit.problemsAtStart.map(\.message)
        }
        #expect(messages("csp-shop") == [])
        #expect(
            messages("csp-eu.shop") == [
                "clientsecretd-push@eu.shop.service: its next start would fail: systemd accepts no user name this long or "
                    + "with such characters"
            ])
    }

    /// A reboot, or the next request, would find it out.
    @Test func aServiceWithAnUnknownUserOrGroupCannotStart() {
        func messages(_ values: [String: UnitSettings.Value], of unit: String) -> [String] {
            let file = UnitSettings.File(path: "/etc/a.conf", text: "[Service]\nUser=no-such-user\n")
            return UnitInEffect(name: unit, settings: UnitSettings(values: values, files: [file])).problemsAtStart.map(
                \.sentence)
        }
        let user: [String: UnitSettings.Value] = ["DynamicUser": .flag(false), "User": .text("no-such-user")]
        #expect(
            messages(user, of: PackageUnit.store) == [
                "clientsecretd-store.service: its next start would fail: User=no-such-user names a user that does not exist; "
                    + "correct it in /etc/a.conf:2, or add the user"
            ])
        // These are reported elsewhere.
        for unit in ["clientsecretd.service", PackageUnit.writer(of: "no-such-user")] {
            #expect(messages(user, of: unit) == [], "\(unit)")
        }
        for groups in [["root", "no-such-group"], ["no-such-group"]] {
            #expect(
                messages(["SupplementaryGroups": .list(groups)], of: PackageUnit.writer(of: "root")) == [
                    "clientsecretd-writer@root.service: its next start would fail: SupplementaryGroups=no-such-group names a "
                        + "group that does not exist; correct it with systemctl edit clientsecretd-writer@root.service, or add "
                        + "the group"
                ])
        }
    }

    /// The unit manager knows why, and check says the same.
    @Test func aServiceThatCannotStartIsSilentForThatReason() throws {
        let target = try #require(TargetName("eu.shop"))
        let unit = PackageUnit.pusher(of: target)
        let silent = Failure(.pushServiceSilent, at: .target(target), cause: ErrorNumber.timedOut)
        func explained(_ failure: Failure, _ values: [String: UnitSettings.Value]) -> Failure {
            UnitInEffect(name: unit, settings: UnitSettings(values: values, files: [])).explaining(
                failure, needing: nil)
        }
        let unusable: [String: UnitSettings.Value] = [
            "DynamicUser": .flag(true), "User": .text("csp-eu.shop"), "Result": .text("resources"),
        ]
        let found = explained(silent, unusable)
        #expect(found.code == silent.code && found.place == silent.place && found.cause == silent.cause)
        #expect(found.detail == "\(unit): systemd accepts no user name this long or with such characters")
        let checked = UnitInEffect(name: unit, settings: UnitSettings(values: unusable, files: [])).problemsAtStart
        #expect(found.remedy == checked.first?.remedy)
        let failed = explained(silent, ["Result": .text("exit-code"), "ExecMainStatus": .number(226)])
        #expect(failed.detail == "systemd could not start \(unit): exit status 226, see systemd.exec(5)")
        #expect(failed.remedy == silent.remedy)
        #expect(explained(silent, ["Result": .text("success")]) == silent)
        // One that answers was started.
        let unknown = Failure(.pushUnconfigured, at: .target(target))
        #expect(explained(unknown, unusable) == unknown)
    }

    /// The package's unit has nothing to do with the credentials of another one.
    @Test func aCredentialThatIsMissingIsOneOfTheDaemonsOwnUnit() async {
        await #expect(processExitsWith: .success) {
            var context = CommandContext.current
            context.unit = "second.service"
            context.use()
            let missing = Failure(.credentialMissing, at: .credential("apple-key"))
            let subject = UnitInEffect.subject(of: missing, writer: nil, token: { _ in nil })
            #expect(subject?.unit == "second.service")
            #expect(subject?.credential == "apple-key")
        }
    }

    /// Only systemd passes it on, but who may read it there has it.
    @Test func aSourceOfAKeyThatOthersCanReadIsNamed() throws {
        let directory = try TemporaryDirectory()
        let path = try directory.write("key", to: "key")
        func isNamed(_ mode: Int, by setting: String = "LoadCredential") throws -> Bool {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
            let settings = UnitSettings(values: [setting: .items([.init(name: "key", path: path)])], files: [])
            return CredentialSources.exposure(ofKey: "key", settings, as: .current())?.detail?.contains(path) == true
        }
        #expect(try !isNamed(0o600))
        #expect(try isNamed(0o644))
        #expect(try !isNamed(0o644, by: "LoadCredentialEncrypted"))
    }

    /// systemd copies it at a start, and the process that runs has the former one.
    @Test func aSourceOfAKeyThatChangedSinceTheStartIsNamed() throws {
        let directory = try TemporaryDirectory()
        let path = try directory.write("former", to: "key")
        try directory.folder("passed")
        try directory.write("former", to: "passed/key")
        func changed(by setting: String = "LoadCredential") -> String? {
            let settings = UnitSettings(values: [setting: .items([.init(name: "key", path: path)])], files: [])
            return CredentialSources.changedFile(of: "key", settings, passedIn: directory("passed"))
        }
        #expect(changed() == nil)
        for text in ["formes", "former\n", ""] {
            try directory.write(text, to: "key")
            #expect(changed() == path)
        }
        // What systemd has decrypted is not the file.
        #expect(changed(by: "LoadCredentialEncrypted") == nil)
        try FileManager.default.removeItem(atPath: path)
        #expect(changed() == nil)
    }

    /// The next start counts: the process that runs keeps what it was passed.
    @Test func aCredentialThatTheNextStartIsNotPassedIsNamed() throws {
        func problem(_ values: [String: UnitSettings.Value], changed source: String? = nil) -> String? {
            UnitInEffect(name: "a.service", settings: UnitSettings(values: values, files: []))
                .problem(withCredential: "key", changed: source)?.sentence
        }
        let loading: [String: UnitSettings.Value] = ["LoadCredential": .items([.init(name: "key", path: "/etc/hosts")])]
        #expect(problem(loading) == nil)
        #expect(problem(["SetCredential": .items([.init(name: "key")])]) == nil)
        #expect(
            problem(["LoadCredential": .items([.init(name: "other", path: "/etc/hosts")])])
                == "credential \"key\": systemd does not pass this credential: a.service has no LoadCredential= for key, so "
                + "only the process that runs still has it; write LoadCredential=key:/path/to/file into its [Service] section, "
                + "with systemctl edit a.service")
        #expect(
            problem(loading, changed: "/etc/hosts")
                == "credential \"key\": systemd does not pass this credential: /etc/hosts has changed since a.service was "
                + "started, and systemd passes credentials only at a start; systemctl restart a.service")
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
