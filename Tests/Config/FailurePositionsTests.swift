import Failures
import Linux
import Model
import Testing

@testable import Config

/// Problems that are met after the configuration was read, told at the line that names the thing.
@Suite struct FailurePositionsTests {
    private let text = """
        keys:
          apple:
            team_id: DEF123GHIJ
            key_id: ABC123DEFG
            file: /etc/k/key.p8
            passphrase_file: /etc/k/pass
          plain:
            team_id: DEF123GHIJ
            key_id: ABC123DEFG
            credential: second
        clients:
          web:
            key: apple
            outputs:
              - path: /run/web
                group: www
                as: app
            on_change:
              - restart: a.service
              - exec: [/usr/bin/hook]
          api:
            key: plain
            outputs: [{path: /run/shared, format: env, variable: A}]
            on_change: [restart: a.service]
          other:
            key: plain
            outputs: [{path: /run/shared, format: env, variable: B}]
        control_group: operators
        on_state_change: [{start: notice@%s.service}]
        """

    @Test func areThoseOfTheLinesThatNameThings() throws {
        let positions = FailurePositions(in: try parse(text).get())
        func place(_ failure: Failure, _ client: String? = nil) -> String {
            positions.position(of: failure, client: client.flatMap { ClientName($0) }).description
        }
        let apple = try #require(KeyName("apple"))
        let plain = try #require(KeyName("plain"))
        let shared = Failure.Place.path(try #require(AbsolutePath("/run/shared")))
        #expect(positions.position(ofKey: plain).description == "c.yaml:7:3")
        #expect(place(Failure(.keyEmpty, at: .key(apple))) == "c.yaml:5:11")
        #expect(place(Failure(.keyWrongPassphrase, at: .key(apple))) == "c.yaml:6:22")
        #expect(place(Failure(.keyWrongPassphrase, at: .key(plain))) == "c.yaml:10:17")
        #expect(place(Failure(.credentialMissing, at: .credential("second"))) == "c.yaml:10:17")
        #expect(place(Failure(.keyMissing, at: .path(try #require(AbsolutePath("/etc/k/key.p8"))))) == "c.yaml:5:11")
        #expect(place(Failure(.keyMissing, at: .path(try #require(AbsolutePath("/etc/k/pass"))))) == "c.yaml:6:22")
        #expect(place(Failure(.diskFull, at: shared)) == "c.yaml:23:22")
        #expect(place(Failure(.diskFull, at: shared), "other") == "c.yaml:27:22")
        #expect(place(Failure(.unknownGroup, at: .named("www")), "web") == "c.yaml:16:16")
        let web = Failure.Place.path(try #require(AbsolutePath("/run/web")))
        #expect(place(Failure(.groupNotPermitted, at: web, detail: "www"), "web") == "c.yaml:16:16")
        #expect(place(Failure(.unknownUser, at: .named("app")), "web") == "c.yaml:17:13")
        #expect(place(Failure(.unknownGroup, at: .named("operators"))) == "c.yaml:28:16")
        let notice = Action.unit(verb: .start, unit: "notice@degraded.service").id
        #expect(place(Failure(.unitUnknown, at: .action(notice))) == "c.yaml:29:20")
        let restart = Action.unit(verb: .restart, unit: "a.service").id
        #expect(place(Failure(.actionFailed, at: .action(restart)), "api") == "c.yaml:19:9")
        #expect(
            place(Failure(.permissionDenied, at: .path(try #require(AbsolutePath("/usr/bin/hook"))))) == "c.yaml:20:9")
        #expect(positions.position(ofUser: "app").description == "c.yaml:17:13")
        #expect(positions.position(ofUser: "nobody").description == "c.yaml:1:1")
        // What the configuration does not name stands at the client, or at the start.
        let elsewhere = Failure(.ioError, at: .path(try #require(AbsolutePath("/elsewhere"))))
        #expect(place(elsewhere, "api") == "c.yaml:21:3")
        #expect(place(elsewhere) == "c.yaml:1:1")
        #expect(place(Failure(.clockDoubtful, at: .clock)) == "c.yaml:1:1")
    }

    @Test func ofAUnitIsThatOfItsCredential() throws {
        let text = """
            keys: {apple: {team_id: DEF123GHIJ, key_id: ABC123DEFG, credential: key}}
            clients:
              web:
                credential: {unit: www.service, name: secret}
                on_change: [restart: www.service]
            """
        let positions = FailurePositions(in: try parse(text).get())
        let failure = Failure(.unitCannotStart, at: .named("www.service"))
        #expect(positions.position(of: failure, client: nil).description == "c.yaml:4:5")
    }

    /// A part of a path may be as long as a secret, such as the name of a container's volume.
    @Test func leaveACommandAsItIs() throws {
        let positions = FailurePositions(in: try parse(text).get())
        let volume = "/var/lib/docker/volumes/" + String(repeating: "0123456789abcdef", count: 4)
        let command = "ls -ld \(volume)"
        let path = try #require(AbsolutePath("/run/web"))
        let failure = Failure(
            .unguardedDirectory, at: .path(path), detail: volume,
            remedy: .run(.list(volume), otherwise: "there is no command"))
        let line = positions.diagnostic(failure).description
        #expect(line.hasSuffix(": /var/lib/docker/volumes/(64 characters); \(command)"))
        let problem = ConfigurationLoader.problem(
            FileError(.notGuarded, at: volume, remedy: .run(.list(volume), otherwise: "there is no command")),
            with: path)
        let refusal = Diagnostic(.error, at: Position(file: "c.yaml"), problem.words, remedy: problem.remedy)
        #expect(refusal.description.hasSuffix(": it is not guarded; \(command)"))
    }

    @Test func makeADiagnosticOfAFailure() throws {
        let positions = FailurePositions(in: try parse(text).get())
        let key = try #require(KeyName("apple"))
        #expect(
            positions.diagnostic(Failure(.keyEmpty, at: .key(key))).description
                == #"c.yaml:5:11: error: key "apple": the key file is empty; copy the .p8 file again"#)
    }
}
