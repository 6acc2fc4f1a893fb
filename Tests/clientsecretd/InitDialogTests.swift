import AppleClientSecret
import ArgumentParser
import Formats
import Model
import Rotation
import TestSupport
import Testing

@testable import clientsecretd

/// A person who types these lines, and what was shown to that person.
final class Person {
    var lines: [String]
    var shown: [String] = []
    /// What is typed without being shown.
    var hidden: [String] = []

    init(_ lines: [String]) { self.lines = lines }

    var dialog: InitDialog {
        InitDialog(
            ask: { question in
                self.shown.append(question)
                return self.lines.isEmpty ? nil : self.lines.removeFirst()
            },
            say: { self.shown.append($0) },
            askHidden: { question in
                self.shown.append(question)
                return self.hidden.isEmpty ? nil : self.hidden.removeFirst()
            })
    }
}

@Suite struct InitDialogTests {
    private static let ids = [
        "--key", "/x/AuthKey_ABC123DEFG.p8", "--team-id", "DEF123GHIJ", "--client-id", "com.example.web",
    ]

    private func withKey<Value>(_ body: (String) throws -> Value) throws -> Value {
        let directory = try TemporaryDirectory()
        try directory.write(try Self.key.get(), to: "AuthKey_ABC123DEFG.p8")
        return try body(directory("AuthKey_ABC123DEFG.p8"))
    }

    /// A private key, made once.
    private static let key = Result {
        try run(["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"]).output
    }

    /// Each choice of the menu, and the flags that say the same.
    @Test(arguments: [
        (
            ["1", "", "", "app.service"],
            [
                "--output", "/run/clientsecretd/out/web.env", "--format", "env", "--variable", "APPLE_CLIENT_SECRET",
                "--restart", "app.service",
            ]
        ),
        (
            ["2", "/srv/.env", "AUTH_APPLE_SECRET", "root", ""],
            ["--output", "/srv/.env", "--format", "env", "--variable", "AUTH_APPLE_SECRET", "--as", "root"]
        ),
        (["3", "", "api.service"], ["--credential", "apple-client-secret", "--restart", "api.service"]),
        (["4", "", "", ""], ["--output", "/run/clientsecretd/out/web.jwt", "--format", "raw"]),
        (
            ["5", "root", "", ""],
            ["--output", "/run/clientsecretd/web/web.json", "--format", "json", "--group", "root"]
        ),
    ])
    func answersAndFlagsMeanTheSame(_ lines: [String], _ flags: [String]) throws {
        try withKey { key in
            let person = Person([key, "DEF123GHIJ", "com.example.web"] + lines)
            let answered = try person.dialog.complete(InitAnswers()).configuration()
            let said = try InitCommand.parse(
                ["--key", key, "--team-id", "DEF123GHIJ", "--client-id", "com.example.web"] + flags)
            #expect(try said.given.configuration() == answered)
            #expect(person.lines.isEmpty)
        }
    }

    /// A second variable beside an expired secret would help nobody: the application reads the first.
    @Test func offersTheVariableThatHoldsASecretAlready() throws {
        try withKey { key in
            let directory = try TemporaryDirectory()
            try directory.write("A=1\nAUTH_APPLE_SECRET=\(Self.expired)\n", to: ".env")
            let person = Person([key, "DEF123GHIJ", "com.example.web", "2", directory(".env"), "", "root", ""])
            let answers = try person.dialog.complete(InitAnswers())
            #expect(answers.variable == "AUTH_APPLE_SECRET")
        }
    }

    /// That of the file that the application reads now, or will read.
    @Test func theUnitThatReadsTheFileIsOffered() throws {
        try withKey { (key: String) throws in
            for (lines, unit) in [
                (["2", "/srv/.env", "SECRET", "root", ""], "app.service"), (["3", "", ""], "app.service"),
                (["2", "/srv/.env", "SECRET", "root", "none"], nil),
                (["4", "", "/run/clientsecretd/out/web.jwt", ""], nil),
            ] {
                let person = Person([key, "DEF123GHIJ", "com.example.web"] + lines)
                var dialog = person.dialog
                dialog.proposals.unit = { $0.map { $0.name == ".env" } != false ? "app.service" : nil }
                let answers = try dialog.complete(InitAnswers())
                #expect(answers.unit == unit)
                #expect(person.lines.isEmpty)
            }
        }
    }

    private static let expired = Claims.sample(issuedAt: 1_700_000_000, expiresAt: 1_710_000_000).sampleText

    /// Without anything in it that would tell its format. A token alone would be no environment file.
    @Test(arguments: [(".env", true), (".env.production", true), ("web.env", true), ("web.jwt", false)])
    func aFileThatIsCalledAnEnvironmentFileIsOne(name: String, isOne: Bool) throws {
        let directory = try TemporaryDirectory()
        for content in [nil, "", "# to be filled in\n"] {
            if let content { try directory.write(content, to: name) }
            var answers = InitAnswers()
            answers.output = AbsolutePath(directory(name))
            answers.adoptFormat()
            #expect(answers.format?.type.name == (isOne ? "env" : nil))
        }
    }

    @Test func aBadAnswerIsAskedForAgainWithTheReason() throws {
        try withKey { key in
            let person = Person([
                "", "/nowhere/AuthKey_ABC123DEFG.p8", "/dev", #filePath, key, "short", " DEF123GHIJ ", "",
                "com.example.web", "6", "2",
                "yes", "/a/../x", "/srv/.env", "1BAD", "GOOD", "nobody-of-this-name", "root", "app", "app.service",
            ])
            let answers = try person.dialog.complete(InitAnswers())
            #expect(person.lines.isEmpty)
            #expect(answers.team?.description == "DEF123GHIJ")
            #expect(answers.output?.description == "/srv/.env")
            for reason in [
                "  write the path of the .p8 file, such as /root/AuthKey_ABC123DEFG.p8. Apple offers it once",
                "  /nowhere/AuthKey_ABC123DEFG.p8: there is no such file", "  /dev: this is not a file",
                "  \(#filePath): not a PEM file; write the path of Apple's .p8 file", "  a team id is ten characters",
                "  a client id has letters",
                "  enter a number from 1 to 5", "  write an absolute path, such as /srv/app/.env",
                "  this is not the path of a file", "  a variable's name has",
                "  there is no such user",
                "  write a unit as systemctl shows it",
            ] {
                #expect(person.shown.contains { $0.hasPrefix(reason) }, "\(reason)")
            }
        }
    }

    /// Its team is known, unless another one was given: then another file is asked for.
    @Test func aKeyOfTheConfigurationIsTakenWithItsTeam() throws {
        try withKey { (key: String) throws in
            let name = try #require(KeyName("apple"))
            let person = Person([key, "com.example.web"])
            var dialog = person.dialog
            dialog.existingKey = { (answers) throws(CommandFailure) in answers.key?.description == key ? name : nil }
            var given = InitAnswers()
            given.output = AbsolutePath("/x/out")
            given.format = FormatOptions.Format(FormatRegistry.standard)
            #expect(try dialog.complete(given).existingKey == name)
            #expect(person.lines.isEmpty)
            dialog.existingKey = { (_) throws(CommandFailure) in throw CommandFailure(.usage, "another team's") }
            person.lines = [key]
            #expect(throws: CommandFailure.self) { try dialog.complete(given) }
            #expect(person.shown.suffix(2).first == "  another team's")
        }
    }

    /// How a file is written has a default, and is asked for all the same.
    @Test(arguments: [
        (["--output", "/x/out"], nil, ["1"], ["--output", "/x/out", "--format", "raw"]),
        (["--output", "/x/out"], nil, ["0", "4", ""], ["--output", "/x/out", "--format", "raw"]),
        (
            ["--output", "/x/out"], nil, ["2", "APPLE"],
            ["--output", "/x/out", "--format", "env", "--variable", "APPLE"]
        ),
        (
            ["--output", "/x/out", "--as", "app"], nil, ["3"],
            ["--output", "/x/out", "--as", "app", "--format", "json"]
        ),
        (["--output", "/x/out"], "env", ["1X", "X"], ["--output", "/x/out", "--format", "env", "--variable", "X"]),
        ([], "env", ["/x/out", "X"], ["--output", "/x/out", "--format", "env", "--variable", "X"]),
        (["--group", "www"], nil, ["/x/out", "3"], ["--output", "/x/out", "--format", "json", "--group", "www"]),
        // An empty answer to the question for the group would take the flag back.
        (
            ["--app", "oauth2-proxy", "--group", "root"], nil, [""],
            ["--app", "oauth2-proxy", "--group", "root", "--output", "/run/clientsecretd/web/web.jwt"]
        ),
        (
            ["--app", "oauth2-proxy"], "json", ["/x/out"],
            ["--app", "oauth2-proxy", "--format", "json", "--output", "/x/out"]
        ),
    ])
    func howAFileIsWrittenIsAskedFor(
        _ flags: [String], _ format: String?, _ lines: [String], _ complete: [String]
    ) throws {
        var given = try InitCommand.parse(Self.ids + flags).given
        // Not as a flag: this process may have no terminal, and without one it is refused.
        given.format = format.flatMap { FormatOptions.Format(argument: $0) }
        try given.validate(canAsk: true)
        let person = Person(lines)
        let answered = try person.dialog.complete(given).configuration()
        #expect(person.lines.isEmpty)
        #expect(try InitCommand.parse(Self.ids + complete).given.configuration() == answered)
    }

    // MARK: Targets

    private func target(_ flags: String...) throws -> InitAnswers {
        try InitCommand.parse(Self.ids + flags).given
    }

    /// What is asked is what the flags say, and the token is for a file that its owner alone may read.
    @Test func aTargetIsAskedForWithItsToken() throws {
        let directory = try TemporaryDirectory()
        let person = Person(["a/b", "shop", "", "AUTH_APPLE_SECRET", ""])
        person.hidden = ["", " the token "]
        var given = try target("--push", "vercel")
        given.target?.keepToken(
            in: try #require(AbsolutePath(directory("production-token"))).directory, isWritten: true)
        let answers = try person.dialog.complete(given)
        #expect(person.lines.isEmpty)
        #expect(person.shown.contains { $0.hasPrefix("  \"a/b\" contains \"/\"") }, "\(person.shown)")
        #expect(person.shown.contains { $0.hasPrefix("  paste it here: vercel accepts no secret without it") })
        try directory.write("token", to: "production-token")
        let said = try target(
            "--push", "vercel", "--set", "project=shop", "--set", "variable=AUTH_APPLE_SECRET", "--set",
            "redeploy=true",
            "--token-file", directory("production-token"))
        for isOfService in [true, false] {
            #expect(
                try answers.configuration(isOfService: isOfService) == said.configuration(isOfService: isOfService))
        }
        #expect(
            answers.target?.typedToken
                == RequiredLines(path: directory("production-token"), lines: "the token\n", isSecret: true))
        #expect(!person.shown.joined().contains("the token "))
    }

    /// The secret goes to the API alone, under the name that the application reads now.
    @Test func aTargetTakesTheVariableOfTheFile() throws {
        let found = FoundClient.all(
            in: Array("AUTH_APPLE_SECRET=\(Self.expired)\n".utf8), of: "/x/.env", variable: nil, client: nil)
        var answers = try InitCommand.parse(["--push", "netlify"]).given
        answers.adopt(try #require(found.first), in: try #require(AbsolutePath("/x/.env")), of: "app")
        #expect(answers.target?.settings == ["variable": "AUTH_APPLE_SECRET"])
        #expect(answers.team?.description == "DEF123GHIJ")
        #expect(!answers.hasDestination)
    }

    @Test func withDefaultsOnlyWhatHasNoneIsAskedFor() throws {
        let person = Person(["https//vault", "https://vault.example.com:8200"])
        person.hidden = ["token"]
        var dialog = person.dialog
        dialog.takesDefaults = true
        var given = try target("--push", "vault", "--set", "path=apps/web")
        given.target?.keepToken(in: try #require(AbsolutePath("/nowhere")), isWritten: true)
        let answers = try dialog.complete(given)
        #expect(
            answers.target?.entry(isOfService: true).lines == [
                "kind: vault", "path: apps/web", "endpoint: 'https://vault.example.com:8200'",
                "token_credential: vault-token",
            ])
    }

    @Test func theEndOfTheAnswersIsTheEnd() throws {
        #expect(throws: CommandFailure(.failed, "input ended; nothing was written")) {
            try Person([]).dialog.complete(InitAnswers())
        }
    }

    /// A secret whose `iss` and `kid` were given in the wrong order.
    @Test func swappedIdsAreReported() throws {
        var answers = try target("--output", "/x/out")
        answers.team = TeamID("ABC123DEFG")
        answers.formerKeyID = KeyID("DEF123GHIJ")
        let failure = #expect(throws: CommandFailure.self) { try answers.configuration() }
        #expect(
            failure?.message
                == "ABC123DEFG is the key's id, not the team's: the ids in the secret of --from are swapped; "
                + "add --team-id DEF123GHIJ")
    }

    @Test(
        arguments: [
            ([], "--key, --team-id, --client-id, --output, --credential or --push"),
            (ids + ["--push", "vercel"], "--set project=..., --set variable=..., --token-file"),
        ] as [([String], String)])
    func withoutATerminalWhatIsMissingIsNamed(_ flags: [String], _ missing: String) throws {
        #expect(throws: CommandFailure(.usage, "there is no terminal to prompt at; add \(missing)")) {
            try InitCommand.parse(flags).given.configuration()
        }
    }

    @Test(arguments: [
        ["--credential", "a", "--output", "/x/y"], ["--as", "app", "--group", "www"], ["--format", "env"],
        ["--variable", "X"], ["--key", "/x/key.pem"], ["--restart", "a.service", "--reload", "a.service"],
        ["--set", "project=a"], ["--token-file", "/t"], ["--target", "a"],
        ["--push", "vercel", "--set", "projekt=a"], ["--push", "vercel", "--set", "project"],
        ["--push", "supabase", "--set", "redeploy=true"], ["--push", "vercel", "--target", "a.b"],
        ["--push", "vercel", "--target", "a-target-whose-name-is-too-long"],
        ["--push", "vercel", "--app", "authjs"],
    ])
    func contradictionsAreRefused(_ flags: [String]) throws {
        // The second says what the first leaves to the questions at a terminal.
        #expect(throws: (any Error).self) { try InitCommand.parse(flags).given.validate() }
    }
}
