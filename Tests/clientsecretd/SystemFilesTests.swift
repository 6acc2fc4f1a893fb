import AppleClientSecret
import Failures
import Model
import Rotation
import Testing

@testable import Daemon
@testable import clientsecretd

@Suite struct SystemFilesTests {
    private func first(_ destination: NewConfigurationFile.Destination, unit: String? = nil) throws
        -> NewConfigurationFile
    {
        NewConfigurationFile(
            key: .existing(try #require(KeyName("apple"))), name: try #require(ClientName("web")),
            client: try #require(ClientID("com.example.web")),
            destination: destination, unit: unit)
    }

    private func file(
        _ path: String, variable: String? = nil, user: String? = nil, group: String? = nil
    ) throws -> NewConfigurationFile.Destination {
        .file(
            NewConfigurationFile.OutputFile(
                path: try #require(AbsolutePath(path)), variable: variable, user: user, group: group))
    }

    private func files(
        _ first: NewConfigurationFile, dropIns: [UnitDropIn] = [], rule: String? = nil, make: ShellCommand? = nil
    ) -> SystemFiles {
        SystemFiles(for: first, dropIns: dropIns, rule: rule, make: make)
    }

    @Test func theServiceThatPushesIsHandedTheToken() throws {
        var web = try first(file("/run/clientsecretd/out/web.jwt"))
        web.destination = nil
        web.target = TargetEntry(
            name: try #require(TargetName("shop")), lines: [],
            credential: "LoadCredential=vercel-token:/etc/clientsecretd/shop-token")
        #expect(
            files(web).files == [
                RequiredLines(
                    path: "/etc/systemd/system/clientsecretd-push@shop.service.d/clientsecretd.conf",
                    lines: "[Service]\nLoadCredential=vercel-token:/etc/clientsecretd/shop-token\n")
            ])
        #expect(
            files(web).commands.map(\.text)
                == ["systemctl daemon-reload", "systemctl enable --now clientsecretd-push@shop.socket"])
    }

    @Test func aUnitReadsAnEnvironmentFile() throws {
        let made = files(
            try first(file("/run/clientsecretd/out/100%.env", variable: "SECRET"), unit: "app.service"), rule: "rule();"
        )
        #expect(
            made.files == [
                RequiredLines(
                    path: "/etc/systemd/system/app.service.d/clientsecretd.conf",
                    lines: """
                        [Unit]
                        Wants=clientsecretd.service
                        After=clientsecretd.service

                        [Service]
                        EnvironmentFile=/run/clientsecretd/out/100%%.env

                        """),
                RequiredLines(path: "/etc/polkit-1/rules.d/50-clientsecretd.rules", lines: "rule();\n"),
            ])
        #expect(made.commands.map(\.text) == ["systemctl daemon-reload"])
    }

    @Test func aUnitLoadsACredential() throws {
        let made = files(try first(.credential("apple"), unit: "app.service"))
        #expect(
            made.files.map(\.lines).joined().hasSuffix(
                "[Service]\nLoadCredential=apple:/run/clientsecretd/credentials.sock\n"))
    }

    /// A file in the daemon's directory needs nothing, a group's its directory, and a user's its writer.
    @Test func aFileNeedsItsDirectoryOrItsWriter() throws {
        #expect(files(try first(file("/run/clientsecretd/out/web.jwt"))) == SystemFiles())
        let ofGroup = files(try first(file("/run/clientsecretd/www/web.jwt", group: "www-data")), make: .readUnits)
        #expect(ofGroup.files.isEmpty && ofGroup.commands == [.readUnits])
        let ofUser = files(
            try first(file("/srv/app/.env", variable: "SECRET", user: "app"), unit: "app.service"), make: .readUnits)
        #expect(ofUser.files.isEmpty)
        #expect(ofUser.commands.map(\.text) == ["systemctl enable --now clientsecretd-writer@app.socket"])
    }

    /// With "-", systemd skips one that is missing, and the service could not write there until its next start.
    @Test func aDirectoryIsThereBeforeTheServiceThatIsLetWriteToItRestarts() throws {
        let make = ShellCommand.createShippedDirectories
        let line = UnitFileLine.paths("ReadWritePaths", "/srv/shop")
        let dropIn = UnitDropIn(unit: "clientsecretd.service", lines: [line], isRunning: true)
        let made = files(try first(file("/srv/shop/web.jwt")), dropIns: [dropIn], make: make)
        #expect(made.commands.prefix(2) == [make, .readUnits])
    }

    @Test func contentsOfAFileAreKept() {
        let file = RequiredLines(path: "/x", lines: "new\nline\n")
        #expect(file.text(after: nil) == "new\nline\n")
        #expect(file.text(after: "") == "new\nline\n")
        #expect(file.text(after: "old\n") == "old\nnew\nline\n")
        #expect(file.text(after: "no end") == "no end\nnew\nline\n")
        #expect(file.text(after: "old\nnew\nline\n") == nil)
        // The end of another line is none of them.
        #expect(file.text(after: "// new\nline\n") == "// new\nline\nnew\nline\n")
    }
}
