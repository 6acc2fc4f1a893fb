import AppleClientSecret
import Failures
import Foundation
import Linux
import Model
import Systemd
import TestSupport
import Testing

@testable import Daemon

/// What keeps an application at another value than the one in the output. Each rule over facts; what collects them is tried
/// on files here, and with a real systemd in Tests/System/bed.
@Suite struct HiddenOutputTests {
    private let now = WallTime(secondsSinceEpoch: 1_800_000_000)
    private let path = "/srv/shop/.env"

    private func file(_ path: String, _ text: String, realPath: String? = nil) -> ApplicationFile {
        ApplicationFile(path: path, realPath: realPath, bytes: Array(text.utf8))
    }

    private func output(
        _ text: String = "SECRET=new\n", variable: String? = "SECRET", copies: Set<String> = ["/srv/shop/.env"]
    ) -> OutputFacts {
        var facts = OutputFacts(path: path, realPath: path, variable: variable, copies: copies)
        facts.variables = ["SECRET"]
        facts.file = file(path, text)
        return facts
    }

    private func unit(
        _ files: [ApplicationFile] = [], _ values: [String: UnitSettings.Value] = [:], text: String = "",
        _ process: UnitFacts.MainProcess? = nil
    ) -> UnitFacts {
        let settings = UnitSettings(
            values: values, files: [UnitSettings.File(path: "/etc/systemd/system/shop.service", text: text)])
        return UnitFacts(name: "shop.service", settings: settings, environmentFiles: files, process: process)
    }

    /// File and line of each.
    private func places(_ found: [HiddenOutput]) -> [String] { found.map { "\($0.file):\($0.line ?? 0)" } }

    private func secret(expiring expiresAt: WallTime) -> String {
        let end = expiresAt.secondsSinceEpoch
        return Claims.sample(issuedAt: end - 1_000, expiresAt: end).sampleText
    }

    // MARK: The unit

    @Test func aLaterSettingOfTheUnitHidesTheOutput() {
        let own = file(path, "SECRET=new\n")
        let link = file("/etc/shop.env", "SECRET=new\n", realPath: path)
        let other = file("/etc/default/shop", "# shop\nA=1\nSECRET=old\n")
        let harmless = file("/etc/default/shop", "export SECRET=old\nSECRET_2=old\n")
        let service = "/etc/systemd/system/shop.service"
        let text = "[Unit]\nX=1\n[Service]\nEnvironment=A=1\nEnvironment=B=2 \\\n  SECRET=old\n"
        let set = ["Environment": UnitSettings.Value.list(["A=1", "B=2", "SECRET=old"])]
        let rows: [(why: Comment, unit: UnitFacts, found: [String])] = [
            ("a later file", unit([own, other]), ["/etc/default/shop:3"]),
            ("an earlier file", unit([other, own]), []),
            ("an earlier file than a link to the output", unit([other, link]), []),
            ("systemd ignores export, and another variable is not ours", unit([own, harmless]), []),
            ("the application reads the output itself", unit([other]), ["/etc/default/shop:3"]),
            ("the same, and the unit sets the variable", unit([], set, text: text), ["\(service):5"]),
            ("a file takes precedence over Environment=", unit([own], set, text: text), []),
        ]
        for row in rows { #expect(places(HiddenOutput.settings(of: row.unit, over: output())) == row.found, row.why) }
        // The output is a whole file.
        #expect(HiddenOutput.settings(of: unit([other]), over: output(variable: nil)).isEmpty)
    }

    /// What systemd ignores, a shell and dotenv read.
    @Test func aLineThatSystemdIgnoresIsNamed() {
        func found(
            _ text: String, _ files: [ApplicationFile]? = nil, copies: Set<String> = ["/srv/shop/.env"]
        ) -> [String] {
            let output = output(text, copies: copies)
            let unit = unit(files ?? [file(path, text)])
            return places([HiddenOutput.ignoredLine(of: output, by: unit)].compactMap(\.self))
        }
        #expect(found("export A=1\nexport SECRET=new\n") == ["\(path):2"])
        #expect(found("SECRET=new\n").isEmpty)
        #expect(found("export SECRET=new\nSECRET=new\n").isEmpty)
        #expect(found("A=1\n").isEmpty)
        // The application reads the file by itself.
        #expect(found("export SECRET=new\n", []).isEmpty)
        #expect(found("export SECRET=new\n", [file("/etc/other", "export SECRET=new\n")]).isEmpty)
        // It gets the secret from another output.
        let copy = file("/run/out/shop.env", "SECRET=new\n")
        let both = [file(path, "export SECRET=new\n"), copy]
        #expect(found("export SECRET=new\n", both, copies: [path, copy.path]).isEmpty)
        #expect(found("export SECRET=new\n", both) == ["\(path):1"])
        let text = "export SECRET=new\n"
        #expect(
            HiddenOutput.ignoredLine(of: output(text), by: unit([file(path, text)]))?.description
                == "/srv/shop/.env:1: warning: shop.service reads this file by EnvironmentFile=, and systemd ignores a line that "
                + "begins with export, so its processes have no SECRET; remove \"export \" from the line, then restart shop.service"
        )
    }

    /// The application would have no secret without the line.
    @Test func theUnitIsToReadAnOutputThatNothingElseReads() {
        let text = "[Service]\nEnvironmentFile=/run/out/web.env\n"
        var facts = OutputFacts(
            path: "/run/out/app.env", realPath: "/run/out/app.env", variable: "SECRET", copies: ["/run/out/app.env"])
        facts.variables = ["SECRET"]
        var reading = unit([file("/run/out/web.env", "SECRET=old\n")], text: text)
        func remedies(_ unit: UnitFacts) -> [String?] {
            HiddenOutput.settings(of: unit, over: facts).map { $0.remedy?.description }
        }
        let line = "EnvironmentFile=/run/out/app.env"
        let there = "EnvironmentFile=/run/out/web.env in /etc/systemd/system/shop.service:2"
        let end = "run systemctl daemon-reload and restart shop.service"
        #expect(remedies(reading) == ["write \(line) after \(there), then \(end)"])
        reading.formerOutputs = ["/run/out/web.env"]
        #expect(remedies(reading) == ["it is no output: write \(line) in place of \(there), then \(end)"])
        let set = unit([], ["Environment": .list(["SECRET=old"])], text: "[Service]\nEnvironment=SECRET=old\n")
        #expect(
            remedies(set) == [
                "write \(line) into the [Service] section with systemctl edit shop.service, and restart it"
            ])
    }

    /// The daemon would write the line again.
    @Test func anOutputOfAnotherClientIsNotToLoseItsLine() throws {
        var output = output()
        output.clients = ["/run/out/b.env": try #require(ClientName("third"))]
        let other = file("/run/out/b.env", "SECRET=other\n")
        let found = HiddenOutput.settings(of: unit([file(path, "SECRET=new\n"), other]), over: output)
        #expect(
            found.map(\.description) == [
                "/run/out/b.env:1: warning: client \"third\" sets SECRET here, and shop.service reads this file, too; give "
                    + "one of the two clients another variable, or let shop.service read only one of the files"
            ])
        output.neighbours = [file("/srv/shop/.env.local", "SECRET=other\n")]
        output.clients = ["/srv/shop/.env.local": try #require(ClientName("third"))]
        #expect(HiddenOutput.overrides(of: output).map(\.words).first?.hasPrefix("client \"third\" sets") == true)
        // Of the same client it has the same secret.
        var both = self.output(copies: ["/srv/shop/.env", "/srv/shop/.env.local"])
        both.neighbours = output.neighbours
        #expect(HiddenOutput.overrides(of: both).isEmpty)
    }

    // MARK: Files next to the output

    @Test(arguments: [
        (".env.local", ".env", true), (".env.production", ".env", true), (".env.production.local", ".env", true),
        (".env.staging.local", ".env.staging", true), (".env.local", ".env.production", true),
        (".env.production.local", ".env.local", true), (".env", ".env.local", false), (".env", ".env", false),
        (".env.staging", ".env.production", false), (".env.staging.local", ".env.production", false),
        (".env.example", ".env", false), (".env.production.example", ".env", false), (".env.bak", ".env", false),
        (".env.local~", ".env", false), (".env.20260101", ".env", false), (".envrc", ".env", false),
        ("env.local", ".env", false), (".env.local", "shop.env", false), (".env.", ".env", false),
    ]) func dotenvFilesTakePrecedenceInTheirOrder(_ name: String, _ other: String, _ expected: Bool) {
        #expect(DotenvPrecedence.takesPrecedence(name, over: other) == expected)
    }

    @Test func aDotenvFileIsNamedIfItSetsTheVariable() {
        var output = output()
        output.neighbours = [
            file("/srv/shop/.env.local", "A=1\n\nexport SECRET='old'\n"), file("/srv/shop/.env.production", "A=1\n"),
            file("/srv/shop/.env.example", "SECRET=\n"),
        ]
        let remedy = "remove SECRET from /srv/shop/.env.local, then restart the application"
        #expect(places(HiddenOutput.overrides(of: output)) == ["/srv/shop/.env.local:3"])
        #expect(HiddenOutput.overrides(of: output).map(\.remedy) == [.say(remedy)])
        output.restarted = "shop.service"
        #expect(HiddenOutput.overrides(of: output).map(\.remedy) == [.say(remedy, see: .restart("shop.service"))])
    }

    @Test func aConfigurationCacheIsNamedUnlessAProgramPutTheCurrentSecretIntoIt() throws {
        let token = secret(expiring: now + 1_000)
        let path = "/srv/shop/bootstrap/cache/config.php"
        func found(_ text: String, _ runsProgram: Bool) -> [String] {
            var output = output("SECRET=\(token)\n")
            output.neighbours = [file(path, text)]
            output.programs = runsProgram ? ["cache.service"] : []
            return places(HiddenOutput.caches(of: output))
        }
        let old = secret(expiring: now)
        #expect(found("<?php return [\n'a' => 1,\n'client_secret' => '\(old)'];\n", true) == ["\(path):3"])
        #expect(found("<?php return [];\n", true) == ["\(path):1"])
        #expect(found("<?php return ['\(token)'];\n", false) == ["\(path):1"])
        #expect(found("<?php return ['\(token)'];\n", true).isEmpty)
        var kept = output("SECRET=\(token)\n")
        kept.neighbours = [file(path, "<?php return [];\n")]
        #expect(
            HiddenOutput.caches(of: kept).first?.description.hasSuffix(
                "; as the application's user, run \"php artisan config:cache\" in /srv/shop, and start a unit that does so "
                    + "from on_change")
                == true)
        kept.programs = ["cache.service"]
        kept.started = "cache.service"
        #expect(
            HiddenOutput.caches(of: kept).first?.remedy
                == .say(
                    "as the application's user, run \"php artisan config:cache\" in /srv/shop, and see why cache.service of "
                        + "on_change did not", see: .status(of: "cache.service")))
    }

    /// A oneshot unit may well write a cache again, as the recipe for Laravel has it.
    @Test func aUnitThatIsStartedRunsAProgramAsAHookDoes() {
        #expect(Action.unit(verb: .start, unit: "cache.service").runsProgram)
        #expect(!Action.unit(verb: .restart, unit: "shop.service").runsProgram)
    }

    @Test func aDumpedEnvironmentIsNamedAtTheVariable() {
        var output = output()
        output.neighbours = [file("/srv/shop/.env.local.php", "<?php return [\n'A' => '1',\n'SECRET' => 'old'];\n")]
        #expect(places(HiddenOutput.caches(of: output)) == ["/srv/shop/.env.local.php:3"])
        output.neighbours = [file("/srv/shop/.env.local.php", "<?php return ['A' => '1'];\n")]
        #expect(HiddenOutput.caches(of: output).isEmpty)
    }

    // MARK: Mode and group

    private func configuration(
        of path: String, mode: UInt16?, group: String? = nil, variables: [String] = ["SECRET"]
    ) throws -> Configuration {
        let file = try #require(AbsolutePath(path))
        let (key, clientID) = (try #require(KeyName("apple")), try #require(ClientID("com.example.web")))
        let outputs = variables.map {
            Output(path: file, format: .env, slot: .variable($0), mode: mode, group: group)
        }
        let client = ClientConfiguration(
            clientID: clientID, key: key, lifetime: .maximum, renewBefore: 3600, outputs: outputs)
        let name = try #require(ClientName("web"))
        return Configuration(keys: [:], clients: [name: client])
    }

    @Test func aModeThatAFileWithOtherLinesDoesNotGetIsNamed() throws {
        let directory = try TemporaryDirectory()
        let mixed = "A=1\nSECRET=x\n"
        let rows: [(why: Comment, text: String, found: Int, wanted: UInt16?, variables: [String], isNamed: Bool)] = [
            ("a reader of the group", mixed, 0o600, 0o640, ["SECRET"], true),
            ("narrowed once, it stays", mixed, 0o400, 0o600, ["SECRET"], true),
            ("the daemon narrows it", mixed, 0o640, 0o600, ["SECRET"], false),
            ("it has the mode", mixed, 0o640, 0o640, ["SECRET"], false),
            ("no mode is configured", mixed, 0o600, nil, ["SECRET"], false),
            ("the daemon widens its own file", "SECRET=x\n", 0o600, 0o640, ["SECRET"], false),
            ("another client's line is another line", "SECRET=x\nB=y\n", 0o600, 0o640, ["SECRET", "B"], true),
        ]
        for (index, row) in rows.enumerated() {
            let path = try directory.write(row.text, to: "\(index).env", mode: row.found)
            let configuration = try configuration(of: path, mode: row.wanted, variables: row.variables)
            let found = HiddenOutputSearch.unappliedModes(of: configuration)
            #expect(found.count == (row.isNamed ? 1 : 0), row.why)
            #expect(Set(found).isSubset(of: HiddenOutputSearch.all(of: configuration, at: now)), row.why)
        }
        let path = directory("0.env")
        let wider = try configuration(of: path, mode: 0o640)
        let found = try #require(HiddenOutputSearch.unappliedModes(of: wider).first)
        #expect(found.file == path && found.line == nil && !found.isKnown)
        #expect(
            found.words
                == "mode 0640 is not applied, because the file has other lines, which get no further readers: it has mode 0600"
        )
        let words = found.remedy?.words ?? ""
        #expect(words.hasPrefix("if further users may read all of its lines, give the file mode 0640 ("), "\(words)")
        #expect(words.hasSuffix("chmod 0640 \(path))") && found.remedy?.command == nil, "\(words)")
        // No command shows a file to all users.
        let widest = try configuration(of: path, mode: 0o644)
        let remedy = HiddenOutputSearch.unappliedModes(of: widest).first?.remedy
        #expect(remedy == .say("if further users may read all of its lines, give the file mode 0644"))
    }

    @Test func aGroupThatMayNotReadAFileWithOtherLinesIsNamed() throws {
        let directory = try TemporaryDirectory()
        let text = "A=1\nSECRET=x\n"
        let path = try directory.write(text, to: "app.env")
        let own = try #require(FileStatus.following(path)).group
        func found(_ mode: Int, _ wanted: UInt16?, group: UInt32) throws -> HiddenOutput? {
            try directory.write(text, to: "app.env", mode: mode)
            let configuration = try configuration(of: path, mode: wanted, group: String(group))
            return HiddenOutputSearch.unappliedModes(of: configuration).first
        }
        let why = "because the file has other lines, which get no further readers: it"
        #expect(try found(0o600, nil, group: own)?.words == "group \(own) cannot read the file, \(why) has mode 0600")
        #expect(try found(0o640, nil, group: own) == nil)
        // Its members were among the others until then. No command with the wrong group helps.
        let next = try #require(try found(0o640, 0o640, group: own + 1))
        #expect(next.words == "mode 0640 is not applied, \(why) will have mode 0600")
        #expect(
            next.remedy
                == .say("if further users may read all of its lines, give the file group \(own + 1) and mode 0640"))
    }

    // MARK: A second secret

    @Test func anotherAppleSecretIsNamedWithItsExpiry() throws {
        let (old, new) = (secret(expiring: now), secret(expiring: now + 1))
        let google = "eyJhbGciOiJFUzI1NiJ9.eyJhdWQiOiJodHRwczovL2dvb2dsZS5jb20ifQ." + String(repeating: "A", count: 86)
        let text = "SECRET=\(new)\nAPPLE_SECRET=\"\(old)\" # of 2025\nGOOGLE=\(google)\nOTHER=\(new)\n"
        let found = HiddenOutput.otherSecrets(in: output(text), at: now)
        #expect(places(found) == ["\(path):2", "\(path):4"])
        #expect(found[0].words.contains("expired at 2027-01-15T08:00:00Z"))
        #expect(found[1].words.contains("expires at 2027-01-15T08:00:01Z"))
        #expect(!found.contains { $0.words.contains("eyJ") })
        let advice = "let the application read SECRET, or add an output with variable: APPLE_SECRET"
        #expect(found[0].remedy == .say(advice))
        var both = output(text)
        both.variables = ["SECRET", "OTHER", "APPLE_SECRET"]
        #expect(HiddenOutput.otherSecrets(in: both, at: now).isEmpty)
        // For systemd the next line is part of WIN. The output is refused for that.
        let ambiguous = output("WIN=C:\\Users\\\nSECRET=\(new)\n")
        #expect(HiddenOutput.otherSecrets(in: ambiguous, at: now).isEmpty)
    }

    /// It would set the whole value to the secret.
    @Test func noOutputIsAdvisedForAValueThatHoldsMore() {
        let secret = secret(expiring: now + 1)
        let json = "JSON={\"client_id\":\"com.example.web\",\"client_secret\":\"\(secret)\"}\n"
        let text = "SECRET=\(secret)\nURL=https://u:p@h/?s=\(secret)\n\(json)"
        let found = HiddenOutput.otherSecrets(in: output(text), at: now)
        #expect(places(found) == ["\(path):2", "\(path):3"])
        let advice = "let the application read SECRET: URL holds more than the secret, which an output would remove"
        #expect(found.first?.remedy == .say(advice))
        #expect(!found.contains { $0.description.contains("add an output") })
    }

    /// This takes far longer where a file is judged for each variable that outputs set in it.
    @Test func aFileOfAThousandOutputsIsJudgedOnce() throws {
        let directory = try TemporaryDirectory()
        let names = (0..<1_000).map { "SECRET_\($0)" }
        let text = names.map { "\($0)=x\n" }.joined() + "OTHER=\(secret(expiring: now + 1))\n"
        let written = try directory.write(text, to: "app.env")
        let file = try #require(AbsolutePath(written))
        let (key, clientID) = (try #require(KeyName("apple")), try #require(ClientID("com.example.web")))
        var clients: [ClientName: ClientConfiguration] = [:]
        for name in names {
            let client = try #require(ClientName(name))
            clients[client] = ClientConfiguration(
                clientID: clientID, key: key, lifetime: .maximum, renewBefore: 3600,
                outputs: [Output(path: file, format: .env, slot: .variable(name))])
        }
        let found = HiddenOutputSearch.byClient(of: Configuration(keys: [:], clients: clients), at: now)
        #expect(found.count == names.count)
        #expect(found.values.allSatisfy { outputs in outputs.contains { $0.line == names.count + 1 } })
    }

    // MARK: Processes

    private static let temporary = ".clientsecretd-0123456789abcdef-0123456789abcdef0123456789abcdef.tmp"

    private func mounts(_ table: String, of real: String = "/srv/my shop/.env") -> [String] {
        var facts = OutputFacts(path: real, realPath: real, variable: nil, copies: [])
        facts.place = NamespaceMounts(MountTable("10 1 8:1 / / rw - ext4 a rw\n11 10 8:2 /data /srv rw - ext4 b rw\n"))
            .place(
                of: real)
        let namespace = NamespaceFacts(process: "42", command: "node", mounts: NamespaceMounts(MountTable(table)))
        return places(HiddenOutput.mounts(of: facts, in: namespace))
    }

    @Test func aMountOfTheFileOnItsOwnIsNamed() {
        let root = "20 1 0:50 / / rw - overlay o rw\n"
        func line(_ device: String, _ source: String, _ point: String = "/app/.env") -> String {
            root + "21 20 \(device) \(source) \(point) ro,relatime shared:1 - ext4 b rw\n"
        }
        #expect(mounts(line("8:2", #"/data/my\040shop/.env"#)) == ["/proc/42/mountinfo:2"])
        #expect(mounts(line("8:2", #"/data/my\040shop/.env//deleted"#)) == ["/proc/42/mountinfo:2"])
        // The daemon exchanges the names, so the old file is deleted under a temporary one.
        #expect(mounts(line("8:2", #"/data/my\040shop/\#(Self.temporary)//deleted"#)) == ["/proc/42/mountinfo:2"])
        #expect(mounts(line("8:2", #"/data/\#(Self.temporary)//deleted"#)) == [])
        // A container may have a root of its own with the same path.
        #expect(mounts(line("8:2", #"/data/my\040shop/.env"#, #"/srv/my\040shop/.env"#)) == ["/proc/42/mountinfo:2"])
        #expect(mounts(line("8:1", #"/data/my\040shop/.env"#)) == [])
        #expect(mounts(line("8:2", #"/data/my\040shop"#)) == [])
    }

    /// What a volume of its own looks like.
    @Test func aFileAtTheRootOfAFileSystemIsNotMountedOnItsOwn() {
        var facts = output()
        let table = NamespaceMounts(MountTable("10 1 8:1 / / rw - ext4 a rw\n11 10 8:2 / /srv/shop rw - ext4 b rw\n"))
        facts.place = table.place(of: path)
        #expect(facts.place?.path == "/.env")
        let namespace = NamespaceFacts(process: "self", command: nil, mounts: table)
        #expect(HiddenOutput.mounts(of: facts, in: namespace).isEmpty)
    }

    @Test func aMountOverTheFileItselfGoesWithIt() {
        let host = "10 1 8:1 / / rw - ext4 a rw\n11 10 8:2 /data /srv rw - ext4 b rw\n"
        let over = #"12 11 8:2 /data/my\040shop/.env /srv/my\040shop/.env ro - ext4 b rw"#
        #expect(mounts(host + over + "\n") == [])
    }

    @Test func aMountOfTheHostIsNamedOnce() {
        let table = NamespaceMounts(MountTable("10 1 8:1 / / rw - ext4 a rw\n11 10 8:1 /a /b rw - ext4 a rw\n"))
        let other = MountTable(
            "20 1 8:1 / / rw - ext4 a rw\n21 20 8:1 /a /b rw - ext4 a rw\n22 20 8:1 /a /c rw - ext4 a rw\n")
        let place = NamespaceMounts.Place(device: "8:1", path: "/a")
        #expect(table.ofFile(place).count == 1)
        #expect(other.mounts.filter { table.lacks($0, of: [place], in: []) }.map(\.point) == ["/c"])
    }

    @Test func aProcessIsStaleThatIsOlderThanTheFileAndHoldsAnotherValue() {
        var output = output()
        output.modified = 2_000_000
        func found(startedAt: Int64, environment: String = "SECRET=old", reading: Bool = true) -> [String] {
            let process = UnitFacts.MainProcess(
                id: 42, startedAt: startedAt, environment: [Array(environment.utf8)])
            let unit = unit(
                reading ? [file(path, "SECRET=new\n")] : [], text: "[Service]\nEnvironmentFile=\(path)\n", process)
            return HiddenOutput.staleProcess(of: unit, output).map { places([$0]) } ?? []
        }
        #expect(found(startedAt: 1_999_999) == ["/etc/systemd/system/shop.service:2"])
        #expect(found(startedAt: 2_000_001).isEmpty)
        #expect(found(startedAt: 1_999_999, environment: "SECRET=new").isEmpty)
        #expect(found(startedAt: 1_999_999, reading: false).isEmpty)
    }

    /// Only root may read the environment of another user's process, and perhaps the output.
    @Test func aProcessIsNotCalledStaleByWhatCannotBeRead() {
        var output = output()
        output.modified = 2_000_000
        func found(_ environment: Set<[UInt8]>?) -> HiddenOutput? {
            let process = UnitFacts.MainProcess(id: 42, startedAt: 1_000_000, environment: environment)
            let unit = unit([file(path, "SECRET=new\n")], text: "[Service]\nEnvironmentFile=\(path)\n", process)
            return HiddenOutput.staleProcess(of: unit, output)
        }
        let times =
            "shop.service was started at 1970-01-01T00:00:01Z and /srv/shop/.env was written at 1970-01-01T00:00:02Z, "
            + "so the application "
        let old: Set<[UInt8]> = [Array("SECRET=old".utf8)]
        #expect(found(old)?.words == times + "does not have the current secret")
        #expect(found(old)?.isKnown == true)
        #expect(
            found(nil)?.words
                == times + "may not have the current secret: the environment of process 42 cannot be read")
        #expect(found(nil)?.isKnown == false)
        output.file = nil
        #expect(found(old)?.words == times + "may not have the current secret: the file cannot be read")
        #expect(found(old)?.isKnown == false)
    }

    @Test func anotherFileAtTheOutputsPathIsNamed() {
        let process = UnitFacts.MainProcess(id: 42, startedAt: 1, otherFiles: [path])
        #expect(HiddenOutput.otherFile(at: output(), in: unit([], [:], process))?.file == path)
        #expect(
            HiddenOutput.otherFile(at: output(), in: unit([], [:], UnitFacts.MainProcess(id: 42, startedAt: 1))) == nil)
    }

    @Test func aNameFromOutsideIsShownAsOneEscapedWord() {
        let hidden = HiddenOutput(file: "/srv/a\u{1B}[2J b/.env.local", line: 3, words: "w")
        #expect(hidden.description == #"'/srv/a\x1b[2J b/.env.local':3: warning: w"#)
    }

    // MARK: Units that on_change does not name

    /// What is found where running services read a file when they start.
    ///
    /// - Parameters:
    ///   - settings: those of each service, besides its process, which is this one.
    ///   - restarted: what systemd restarts with a unit.
    private func findings(
        of output: Output, _ actions: [Action], _ settings: [String: [String: UnitSettings.Value]],
        restarted: [String: Set<String>] = [:], ownNames: [String: String] = [:], watched: Set<String> = []
    ) throws -> [HiddenOutput] {
        let name = try #require(ClientName("web"))
        let clientID = try #require(ClientID("com.example.web"))
        let key = try #require(KeyName("apple"))
        let client = ClientConfiguration(
            clientID: clientID, key: key, lifetime: .maximum, renewBefore: 3600, outputs: [output], onChange: actions)
        let configuration = Configuration(keys: [:], clients: [name: client])
        let path = output.path.description
        let process: [String: UnitSettings.Value] = [
            "MainPID": .number(UInt64(ProcessInfo.processInfo.processIdentifier)),
            "ExecMainStartTimestamp": .number(1),
        ]
        var services: [String: UnitSettings] = [:]
        for (unit, values) in settings {
            services[unit] = UnitSettings(
                values: process.merging(values) { $1 },
                files: [
                    UnitSettings.File(
                        path: "/etc/systemd/system/\(unit)",
                        text: "[Service]\nExecStart=true\nEnvironmentFile=-\(path)\n"
                            + "LoadCredential=apple:\(path)\n")
                ])
        }
        let readers = StartReaders(
            of: configuration, among: services, restarted: restarted, ownNames: ownNames, watched: watched)
        return HiddenOutputSearch.byClient(of: configuration, at: now, readers)[name] ?? []
    }

    private func environmentFiles(_ paths: String...) -> [String: UnitSettings.Value] {
        ["EnvironmentFiles": .items(paths.map { UnitSettings.Item(name: $0) })]
    }

    private static let unrestarted = "and nothing restarts it after a renewal"
    private static let stale = "so the application does not have the current secret"

    /// Two units may read one file, or two instances of one, and on_change may name only one.
    @Test func aRunningReaderThatOnChangeForgetsIsNamedWithTheLineToAdd() throws {
        let directory = try TemporaryDirectory()
        let file = try directory.write("SECRET=new\n", to: "app.env")
        let output = Output(path: try #require(AbsolutePath(file)), format: .env, slot: .variable("SECRET"))
        for (named, forgotten) in [("app.service", "worker.service"), ("web@1.service", "web@2.service")] {
            let all = try findings(
                of: output, [.unit(verb: .restart, unit: named)], [forgotten: environmentFiles(file)])
            #expect(places(all) == Array(repeating: "/etc/systemd/system/\(forgotten):3", count: 2))
            #expect(all.first?.words == "\(forgotten) reads \(file) when it starts, \(Self.unrestarted)")
            #expect(all.first?.remedy?.description == "write \"restart: \(forgotten)\" under on_change")
            #expect(all.first?.isOfNext == true)
            #expect(all.last?.words.hasSuffix(Self.stale) == true)
            #expect(all.last?.remedy?.description == "restart \(forgotten)")
            #expect(all.allSatisfy { $0.unit == forgotten })
            let both = [named: environmentFiles(file), forgotten: environmentFiles(file)]
            let other = try findings(of: output, [], both)
            #expect(Set(other.map(\.unit)) == [named, forgotten])
        }
    }

    @Test func aReaderIsNotCalledForgottenThatIsRestartedOrReadsAnotherValue() throws {
        let directory = try TemporaryDirectory()
        let file = try directory.write("SECRET=new\n", to: "app.env")
        let later = try directory.write("SECRET=own\n", to: "worker.env")
        let output = Output(path: try #require(AbsolutePath(file)), format: .env, slot: .variable("SECRET"))
        let reading = ["worker.service": environmentFiles(file)]
        func endings(_ all: [HiddenOutput]) -> [String] {
            all.map { hidden in
                [Self.unrestarted, Self.stale].first { hidden.words.hasSuffix($0) } ?? hidden.words
            }
        }
        let restart = Action.unit(verb: .restart, unit: "app.service")
        let together: [String: Set<String>] = ["app.service": ["app.service", "worker.service"]]
        #expect(try endings(findings(of: output, [restart], reading)) == [Self.unrestarted, Self.stale])
        // As with PartOf=.
        #expect(try endings(findings(of: output, [restart], reading, restarted: together)) == [Self.stale])
        let reload = Action.unit(verb: .reload, unit: "app.service")
        #expect(
            try endings(findings(of: output, [reload], reading, restarted: together)) == [Self.unrestarted, Self.stale])
        // A program or a unit that is started may restart it.
        let start = Action.unit(verb: .start, unit: "deploy.service")
        #expect(try endings(findings(of: output, [start], reading)) == [Self.stale])
        // As with PathChanged=.
        for path in [file, directory.path] {
            #expect(try endings(findings(of: output, [], reading, watched: [path])) == [Self.stale])
        }
        let alias = ["app.service": "worker.service"]
        #expect(try findings(of: output, [restart], reading, ownNames: alias).isEmpty)
        #expect(try findings(of: output, [restart], ["worker.service": environmentFiles(file, later)]).isEmpty)
        #expect(try findings(of: output, [restart], ["worker.service": environmentFiles(later)]).isEmpty)
        let ended = environmentFiles(file).merging(["MainPID": .number(0)]) { $1 }
        #expect(try findings(of: output, [restart], ["worker.service": ended]).isEmpty)
    }

    @Test func aReaderByCredentialIsFoundAsWell() throws {
        let directory = try TemporaryDirectory()
        let file = try directory.write("token", to: "apple.jwt")
        let output = Output(path: try #require(AbsolutePath(file)), format: .raw, slot: .whole)
        let credential = UnitSettings.Item(name: "apple", path: file)
        let all = try findings(
            of: output, [.unit(verb: .restart, unit: "app.service")],
            ["worker.service": ["LoadCredential": .items([credential])]])
        #expect(places(all) == ["/etc/systemd/system/worker.service:4"])
        #expect(all.first?.words == "worker.service reads \(file) when it starts, \(Self.unrestarted)")
        // systemd takes no variable from a bare token.
        #expect(try findings(of: output, [], ["worker.service": environmentFiles(file)]).isEmpty)
    }

    // MARK: Limits

    /// Any user can make namespaces with long tables.
    @Test(.needs(.root)) func lookingAtNamespacesHasLimits() throws {
        let directory = try TemporaryDirectory()
        let output = directory("output")
        try directory.write("x", to: "output")
        for folder in ["many", "many/a"] { try directory.folder(folder) }
        let script = """
            mount -t tmpfs t "$1/many" && mkdir "$1/many/a" && touch "$1/app"
            for i in 1 2 3 4 5 6 7 8; do mount --rbind "$1/many" "$1/many/a"; done
            mount --bind "$1/output" "$1/app" && echo ready && exec sleep 600
            """
        let programs = try (1...3).map { _ in
            try Background(["unshare", "--mount", "/bin/sh", "-c", script, "sh", directory.path])
        }
        #expect(programs.map(\.firstLine) == ["ready", "ready", "ready"])
        let ids = Set(programs.map(\.processID))
        let own = NamespaceMounts(try #require(MountTable.ofThisProcess()))
        let name = try #require(ForeignFile.link("/proc/self/ns/mnt"))
        let place = try #require(own.place(of: RealPath.of(output)))
        func found(_ look: ProcessLook) -> [NamespaceFacts] {
            NamespaceFacts.others(than: own, name, showing: [place], first: ids, look)
        }
        let whole = ProcessLook(milliseconds: 600_000)
        let all = found(whole)
        #expect(Set(all.map(\.process)) == Set(ids.map(String.init)) && !whole.isCut)
        for namespace in all {
            #expect(namespace.mounts.ofFile(place).map(\.point) == [RealPath.of(directory("app"))])
            // Only the file's mount is kept, and what it is mounted on.
            #expect(namespace.mounts.table.mounts.count == 2)
        }
        let length = try #require(ForeignFile.read("/proc/\(programs[0].processID)/mountinfo", limit: 4 << 20)).count
        let short = ProcessLook(bytes: length * 3 / 2, milliseconds: 600_000)
        #expect(found(short).count == 1 && short.isCut)
        let late = ProcessLook(milliseconds: 0)
        #expect(found(late).isEmpty && late.isCut)
    }

    /// Who owns the directory chooses what is in it: names by the hundred of one long file cost root's commands nothing.
    @Test func readingADirectoryHasLimits() throws {
        let directory = try TemporaryDirectory()
        let long = String(repeating: "A=1\n", count: 50_000)
        try directory.write(long, to: "blob")
        for number in 0..<200 {
            try FileManager.default.linkItem(atPath: directory("blob"), toPath: directory(".env.a\(number)"))
        }
        for number in 0..<200 { try directory.write("SECRET=x\n" + long, to: ".env.b\(number)x") }
        try directory.write("A=1\nSECRET=old\nSECRET=older\n", to: ".env.local")
        let files = ApplicationFileReader(variables: ["SECRET"])
        let found = files.dotenvFiles(in: directory.path)
        #expect(found.first?.path == directory(".env.local"))
        var output = output()
        output.neighbours = Array(found.prefix(1))
        #expect(places(HiddenOutput.overrides(of: output)) == [directory(".env.local") + ":3"])
        #expect(found.count <= ApplicationFileReader.fileLimit)
        #expect(found.allSatisfy { $0.bytes.isEmpty && $0.assignments.count <= 1 })
        #expect(files.bytesRead <= ApplicationFileReader.totalLimit)
        let before = files.bytesRead
        _ = files.dotenvFiles(in: directory.path)
        #expect(files.bytesRead == before)
        _ = files.files(matching: directory(".env.*"))
        #expect(files.bytesRead <= before + ApplicationFileReader.totalLimit)
    }

    /// systemd lets the last file win that a pattern names, and its name is what counts.
    @Test func theLastFilesOfAPatternAreKept() throws {
        let directory = try TemporaryDirectory()
        for number in 100..<150 { try directory.write("SECRET=x\n", to: "\(number).env") }
        try FileManager.default.linkItem(atPath: directory("130.env"), toPath: directory("200.env"))
        let found = ApplicationFileReader(variables: ["SECRET"]).files(matching: directory("*.env"))
        #expect(found.count == ApplicationFileReader.fileLimit)
        #expect(found.map(\.path) == found.map(\.path).sorted())
        #expect(found.last?.path == directory("200.env"))
        #expect(found.contains { $0.path == directory("130.env") })
        #expect(found.allSatisfy { $0.assignments.count == 1 })
    }
}
