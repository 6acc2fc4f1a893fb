import AppleClientSecret
import Digest
import Failures
import Foundation
import Linux
import Model
import Outputs
import TestSupport
import Testing

@Suite struct PublisherTests {
    private let scratch: TemporaryDirectory
    private let publisher = Samples.publisher()

    init() throws { scratch = try TemporaryDirectory() }

    private func mode(_ name: String) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: scratch(name))[.posixPermissions] as? Int)
    }

    private func inode(_ name: String) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: scratch(name))[.systemFileNumber] as? Int)
    }

    private func names() throws -> Set<String> {
        Set(try FileManager.default.contentsOfDirectory(atPath: scratch.path))
    }

    // MARK: Whole files

    @Test func onlyTheOwnerMayReadANewFile() throws {
        let secret = try Samples.secret()
        let file = try Samples.file(scratch("web.jwt"))
        let before = try publisher.observe(file)
        #expect(!before.exists && before.slots.isEmpty)
        let done = try publisher.publish([.whole: secret], in: file)
        #expect(done.exists && done.fingerprint() == secret.token.fingerprint)
        #expect(try scratch.read("web.jwt") == Samples.text(secret))
        #expect(try mode("web.jwt") == 0o600)
        #expect(try names() == ["web.jwt"])
    }

    @Test(arguments: [FileFormat.raw, .json, .env])
    func aSecretThatIsThereAlreadyIsNotWrittenAgain(kind: FileFormat) throws {
        let file = try Samples.file(scratch("out"), kind, mode: 0o640, group: "\(getegid())")
        let secrets: [FileSlot: Secret] = [kind == .env ? .variable("SECRET") : .whole: try Samples.secret()]
        #expect(try publisher.replaces(secrets, in: file))
        let first = try inode("out")
        #expect(try mode("out") == 0o640)
        #expect(try !publisher.replaces(secrets, in: file))
        #expect(try inode("out") == first)
    }

    @Test func aNewlineThatAnEditorAddedIsRemoved() throws {
        let secret = try Samples.secret()
        let file = try Samples.file(scratch("web.jwt"))
        try scratch.write(Samples.text(secret) + "\n", to: "web.jwt")
        let found = try publisher.observe(file)
        #expect(found.fingerprint() == secret.token.fingerprint && !found.isAsConfigured)
        #expect(try publisher.publish([.whole: secret], in: file).isAsConfigured)
        #expect(try scratch.read("web.jwt") == Samples.text(secret))
    }

    @Test(arguments: [
        (
            FileFormat.raw, "A=1\n", "it seems to have \"format: env\" (a variable, as NAME=value)",
            Remedy.say("write \"format: env\" and its \"variable\" under the output, or another path") as Remedy?
        ),
        (.json, "{\"mine\": 1}", "it has this format, but another program wrote it", nil),
        (.raw, "[a]\nb: c\n", "it has none of the formats of an output", nil),
    ])
    func aFileThatWasNeverWrittenAndHoldsSomethingElseIsNotOverwritten(
        kind: FileFormat, text: String, words: String, remedy: Remedy?
    ) throws {
        let secrets: [FileSlot: Secret] = [.whole: try Samples.secret()]
        let file = try Samples.file(scratch("out"), kind)
        try scratch.write(text, to: "out")
        let failure = Failure(.outputForeign, at: .path(file.path), detail: words, remedy: remedy)
        #expect(throws: failure) { try publisher.publish(secrets, in: file, mayCreate: false) }
        #expect(publisher.problem(with: file, mayCreate: false) == failure)
        #expect(try scratch.read("out") == text)
        // One that was written before is only damaged; an empty one, or one with such a secret, has nothing to lose.
        #expect(try publisher.replaces(secrets, in: file, mayCreate: true))
        #expect(try publisher.replaces([.whole: try Samples.secret(1)], in: file, mayCreate: false))
        try scratch.write("", to: "out")
        #expect(try publisher.replaces(secrets, in: file, mayCreate: false))
    }

    /// Also if a client secret is in it.
    @Test(arguments: [
        ("SECRET=TOKEN\n", true), ("PORT=1\nSECRET=TOKEN\n", false),
        ("{\"a\": 1, \"client_secret\": \"TOKEN\"}", false),
        ("a:\n  b: TOKEN\n", false),
    ])
    func onlyAFileWithNothingElseIsAdvisedAway(text: String, isRemoved: Bool) throws {
        let content = text.replacing("TOKEN", with: Samples.text(try Samples.secret()))
        try scratch.write(content, to: "out")
        let failure = publisher.problem(with: try Samples.file(scratch("out")), mayCreate: false)
        #expect(failure?.code == .outputForeign)
        #expect(failure?.remedy?.description.contains("remove") == isRemoved)
    }

    /// `check` knows only what was observed.
    @Test(arguments: [
        "SECRET=$(cat x)\n", "SECRET=old; export SECRET\n", "\u{feff}A=1\n# C:\\", "\u{feff}SECRET=old # of May\n",
    ])
    func aFileThatCannotBeEditedIsObserved(text: String) throws {
        let file = try Samples.file(scratch("out"), .env)
        try scratch.write(text, to: "out")
        let failure = #expect(throws: Failure.self) {
            try publisher.publish([.variable("SECRET"): try Samples.secret()], in: file)
        }
        #expect(failure?.code == .outputMalformed)
        #expect(try publisher.observe(file).editFailures == [.variable("SECRET"): failure])
        #expect(try scratch.read("out") == text)
    }

    /// Such a file is not called one of another format as well, which may be removed.
    @Test(arguments: [("\u{a0}SECRET=TOKEN\n", nil), ("a: [\nb: c\n", .outputForeign)] as [(String, Failure.Code?)])
    func aFileThatCannotBeEditedHasOneError(text: String, code: Failure.Code?) throws {
        let secret = try Samples.secret()
        let file = try Samples.file(scratch("out"), .env)
        let text = text.replacing("TOKEN", with: Samples.text(secret))
        try scratch.write(text, to: "out")
        #expect(publisher.problem(with: file, mayCreate: false)?.code == code)
        #expect(try publisher.observe(file).editFailures.isEmpty == (code != nil))
        let failure = #expect(throws: Failure.self) {
            try publisher.publish([.variable("SECRET"): try Samples.secret(1)], in: file, mayCreate: false)
        }
        #expect(failure?.code == code ?? .outputMalformed)
        #expect(try scratch.read("out") == text)
    }

    @Test(
        .needs(.root),
        arguments: [
            (0o600, 0o644, nil, 0o600), (0o640, 0o644, nil, 0o640), (0o664, 0o640, nil, 0o640),
            (0o600, 0o640, "daemon", 0o600),
            (0o644, 0o640, "daemon", 0o640), (0o640, nil, "daemon", 0o600),
        ] as [(Int, UInt16?, String?, Int)])
    func linesOfOthersAreNeverReadableForMoreUsersThanBefore(
        before: Int, configured: UInt16?, group: String?, after: Int
    ) throws {
        let file = try Samples.file(scratch("app.env"), .env, mode: configured, group: group)
        try scratch.write("DATABASE_URL=x\n", to: "app.env", mode: before)
        let secrets: [FileSlot: Secret] = [.variable("SECRET"): try Samples.secret()]
        let done = try publisher.publish(secrets, in: file)
        #expect(try mode("app.env") == after)
        #expect(done.isAsConfigured)
        #expect(try !publisher.replaces(secrets, in: file), "which lasts")
    }

    /// A file as another program left it.
    struct Found: CustomTestStringConvertible {
        var mode: Int
        var group: UInt32 = 0
        /// For setfacl(1).
        var list = ""

        var testDescription: String { "\(String(mode, radix: 8)) of group \(group), \(list)" }
    }

    /// In a directory where others may rename files, a file of any mode comes to any path. What counts is who can read it.
    @Test(
        .needs(.root), .needs(.tools),
        arguments: [
            Found(mode: 0o600), Found(mode: 0o644), Found(mode: 0o604, group: 60), Found(mode: 0o640, group: 60),
            Found(mode: 0o600, list: "u:daemon:r"), Found(mode: 0o600, list: "u:daemon:r,m::-"),
            Found(mode: 0o600, list: "g:games:r"), Found(mode: 0o644, list: "u:daemon:-"),
            Found(mode: 0o644, list: "g:games:-"), Found(mode: 0o604, group: 60, list: "u:daemon:r"),
        ])
    func aRenameOverAnotherFileMakesNothingReadable(found: Found) throws {
        try #require(unsafe chmod(scratch.path, 0o755) == 0)
        func readers() throws -> Set<String> {
            let script = """
                for ids in 1:1 1:12345 12345:1 12345:60 12345:12345; do
                    setpriv --reuid=${ids%:*} --regid=${ids#*:} --clear-groups cat "$1" >/dev/null 2>&1 && echo $ids
                done; true
                """
            let found = try run(["sh", "-c", script, "sh", scratch("b.env")]).output
            return Set(found.split(separator: "\n").map(String.init))
        }
        let secrets: [FileSlot: Secret] = [.variable("SECRET"): try Samples.secret()]
        for mode: UInt16? in [nil, 0o600, 0o640, 0o644] {
            for group: String? in [nil, "daemon", "games"] {
                let file = try Samples.file(scratch("b.env"), .env, mode: mode, group: group)
                try scratch.write("B=1\n", to: "b.env", mode: 0o644)
                try #require(run(["setfacl", "-m", "u:daemon:r,g:games:r", scratch("b.env")]).status == 0)
                _ = try publisher.publish(secrets, in: file)
                try scratch.write("DATABASE_URL=x\n", to: "a.env", mode: found.mode)
                try #require(unsafe chown(scratch("a.env"), 0, found.group) == 0)
                if !found.list.isEmpty {
                    try #require(run(["setfacl", "-m", found.list, scratch("a.env")]).status == 0)
                }
                try #require(unsafe rename(scratch("a.env"), scratch("b.env")) == 0)
                let before = try readers()
                // As a writer, which keeps nothing from one request to the next.
                let done = try Samples.publisher().publish(secrets, in: file)
                #expect(try scratch.read("b.env").hasPrefix("DATABASE_URL=x\nSECRET="))
                let added = try readers().subtracting(before)
                #expect(added.isEmpty, "\(added) with mode \(mode ?? 0) and group \(group ?? "none")")
                #expect(done.isAsConfigured)
            }
        }
    }

    /// Where others may rename files: in the daemon, which remembers where each file was, and in a writer or after a restart,
    /// where nothing is remembered.
    @Test(
        .needs(.root), .needs(.tools),
        arguments: [FileFormat.raw, .json, .env], [nil, 0o600, 0o640] as [UInt16?])
    func anOutputThatIsRenamedOverAnotherPassesNoReadersOn(format: FileFormat, configured: UInt16?) throws {
        try #require(unsafe chmod(scratch.path, 0o755) == 0)
        let trusted = [try Samples.path(scratch.path)]
        let outputs = Set([try Samples.path(scratch("a")), try Samples.path(scratch("b"))])
        func publisher(_ outputs: Set<AbsolutePath>) throws -> Publisher {
            let paths = ReservedPaths()
            paths.set(inputs: [], outputs: outputs, state: nil, trusted: trusted)
            return Samples.publisher(paths)
        }
        func isRead(_ name: String) throws -> Bool {
            try run(["setpriv", "--reuid=1", "--regid=12345", "--clear-groups", "cat", scratch(name)]).status == 0
        }
        for daemon in [try publisher(outputs), nil] {
            func publish(_ secret: Secret, in name: String, mode: UInt16?) throws -> OutputContents {
                let slot: FileSlot = format == .env ? .variable("SECRET") : .whole
                return try (daemon ?? publisher([])).publish(
                    [slot: secret], in: try Samples.file(scratch(name), format, mode: mode))
            }
            _ = try publish(try Samples.secret(client: "com.example.a"), in: "a", mode: configured)
            _ = try publish(try Samples.secret(client: "com.example.b"), in: "b", mode: nil)
            try #require(run(["setfacl", "-m", "u:daemon:r", scratch("b")]).status == 0)
            // An access list is the output's as long as it is there.
            _ = try publish(try Samples.secret(1, client: "com.example.b"), in: "b", mode: nil)
            #expect(try isRead("b") && !isRead("a"))
            try #require(unsafe rename(scratch("b"), scratch("a")) == 0)
            let done = try publish(try Samples.secret(client: "com.example.a"), in: "a", mode: configured)
            #expect(done.isAsConfigured)
            #expect(try !isRead("a"))
            #expect(try mode("a") == Int(configured ?? 0o600))
        }
    }

    /// Nothing remembers where it was: the other client's secret shows that it was moved here, whatever its variable is called.
    @Test func aSecretIsNotAddedForTheReadersOfAnotherClientsFile() throws {
        try #require(unsafe chmod(scratch.path, 0o755) == 0)
        let paths = ReservedPaths()
        paths.set(inputs: [], outputs: [], state: nil, trusted: [try Samples.path(scratch.path)])
        let publisher = Samples.publisher(paths)
        let (one, two) = (
            try Samples.file(scratch("a.env"), .env, variables: ["A"]),
            try Samples.file(scratch("b.env"), .env, mode: 0o644, variables: ["B"])
        )
        let (first, second) = (
            try Samples.secret(client: "com.example.a"), try Samples.secret(client: "com.example.b")
        )
        _ = try publisher.publish([.variable("A"): first], in: one)
        _ = try publisher.publish([.variable("B"): second], in: two)
        try #require(unsafe rename(scratch("b.env"), scratch("a.env")) == 0)
        _ = try publisher.publish([.variable("A"): first], in: one)
        #expect(try mode("a.env") == 0o600)
        // Another program's lines pass their mode on.
        try scratch.write("DATABASE_URL=x\n", to: "a.env", mode: 0o640)
        _ = try publisher.publish([.variable("A"): first], in: one)
        #expect(try mode("a.env") == 0o640)
    }

    /// The value of a variable whose client has no secret yet is perhaps another client's.
    @Test func aValueThatStaysIsNotReadableForMoreUsersThanBefore() throws {
        let file = try Samples.file(scratch("app.env"), .env, mode: 0o644, variables: ["A", "B"])
        try scratch.write("A=theirs\n", to: "app.env", mode: 0o600)
        let secret = try Samples.secret()
        let done = try publisher.publish([.variable("B"): secret], in: file)
        #expect(try mode("app.env") == 0o600)
        #expect(done.isAsConfigured)
        _ = try publisher.publish([.variable("A"): try Samples.secret(1), .variable("B"): secret], in: file)
        #expect(try mode("app.env") == 0o644)
    }

    /// In a directory where others may rename files.
    @Test func contentThatWasMovedOverAnotherOutputDoesNotStayThere() throws {
        let paths = ReservedPaths()
        let (one, two) = (
            try Samples.file(scratch("a.env"), .env, mode: 0o600, variables: ["A"]),
            try Samples.file(scratch("b.env"), .env, mode: 0o644)
        )
        paths.set(inputs: [], outputs: [one.path, two.path], state: nil)
        let publisher = Samples.publisher(paths)
        let (first, second) = (try Samples.secret(), try Samples.secret(1))
        _ = try publisher.publish([.variable("A"): first], in: one)
        _ = try publisher.publish([.variable("SECRET"): second], in: two)
        try #require(unsafe rename(scratch("a.env"), scratch("b.env")) == 0)
        #expect(try !publisher.observe(two).exists)
        // What was there may have held lines of others.
        #expect(throws: Failure(.outputDeleted, at: .path(two.path))) {
            try publisher.publish([.variable("SECRET"): second], in: two, mayCreate: false)
        }
        #expect(try publisher.publish([.variable("SECRET"): second], in: two).isAsConfigured)
        #expect(try scratch.read("b.env") == "SECRET=\(Samples.text(second))\n")
        #expect(try mode("b.env") == 0o644)
        // Lines of others are kept, and shown to nobody.
        try scratch.write("DATABASE_URL=x\nA=\(Samples.text(first))\n", to: "a.env", mode: 0o600)
        #expect(try publisher.observe(one).otherLines)
        try #require(unsafe rename(scratch("a.env"), scratch("b.env")) == 0)
        for _ in 0..<2 {
            let failure = #expect(throws: Failure.self) {
                try publisher.publish([.variable("SECRET"): second], in: two)
            }
            #expect(failure?.code == .outputForeign)
        }
        #expect(try scratch.read("b.env").hasPrefix("DATABASE_URL=x\n"))
        #expect(try mode("b.env") == 0o600)
    }

    @Test(.needs(.root), arguments: [(0o640, nil), (nil, "daemon"), (0o640, "daemon")] as [(UInt16?, String?)])
    func aModeOrGroupThatIsNotAsConfiguredIsSeenAndFixed(mode: UInt16?, group: String?) throws {
        let secret = try Samples.secret()
        try scratch.write(Samples.text(secret), to: "web.jwt", mode: 0o644)
        let file = try Samples.file(scratch("web.jwt"), mode: mode, group: group)
        #expect(try !publisher.observe(file).isAsConfigured)
        let done = try publisher.publish([.whole: secret], in: file)
        #expect(done.isAsConfigured)
        let attributes = try FileManager.default.attributesOfItem(atPath: scratch("web.jwt"))
        #expect(attributes[.groupOwnerAccountName] as? String == group ?? "root")
        #expect(attributes[.posixPermissions] as? Int == mode.map(Int.init) ?? 0o644)
    }

    // MARK: Environment files

    @Test func aSlotWithoutASecretIsLeftAsItIs() throws {
        try scratch.write("A=theirs\n", to: "app.env")
        let file = try Samples.file(scratch("app.env"), .env, variables: ["A", "B"])
        let one = try Samples.secret(1)
        let done = try publisher.publish([.variable("B"): one], in: file)
        #expect(try scratch.read("app.env") == "A=theirs\nB=\(Samples.text(one))\n")
        #expect(!done.otherLines)
        #expect(try !publisher.replaces([:], in: try Samples.file(scratch("none"), .env)))
        #expect(try names() == ["app.env"])
    }

    /// Its only line is our variable's, and without its quotes the file is no Python.
    @Test func aFileOfAnotherSyntaxIsLeftUntouched() throws {
        let text = "SECRET = \"eyJ.a.b\"\n"
        try scratch.write(text, to: "settings.py")
        let file = try Samples.file(scratch("settings.py"), .env)
        let failure = #expect(throws: Failure.self) {
            try publisher.publish([.variable("SECRET"): try Samples.secret()], in: file)
        }
        #expect(failure?.code == .outputForeign && failure?.detail == "by its ending .py it is no environment file")
        #expect(try scratch.read("settings.py") == text)
    }

    /// A variable of the same name in another section holds another program's secret.
    @Test func aFileWithSectionsIsLeftUntouched() throws {
        let text = "[auth.google]\nSECRET = theirs\n[auth.apple]\nSECRET = eyJ.a.b\n"
        try scratch.write(text, to: "grafana.ini")
        let file = try Samples.file(scratch("grafana.ini"), .env)
        let failure = #expect(throws: Failure.self) {
            try publisher.publish([.variable("SECRET"): try Samples.secret()], in: file)
        }
        #expect(failure?.code == .outputForeign && failure?.detail?.hasPrefix("by its line 1, which begins") == true)
        #expect(failure?.remedy?.words?.contains("format: template") == true)
        #expect(publisher.problem(with: file, mayCreate: true) == failure)
        #expect(try scratch.read("grafana.ini") == text)
    }

    /// direnv would block the file, and so the program that it starts. It is not created either, in whatever format.
    @Test func aFileThatRunsOnlyWithApprovedContentIsLeftUntouched() throws {
        for kind in [FileFormat.env, .raw] {
            let file = try Samples.file(scratch(".envrc"), kind)
            let failure = publisher.problem(with: file, mayCreate: true)
            #expect(failure?.code == .outputForeign && failure?.detail?.hasPrefix("direnv runs .envrc only") == true)
            #expect(failure?.remedy?.words?.contains("dotenv_if_exists") == true)
            #expect(failure?.remedy == OutputRemedy.ofApproved(file.path))
        }
        let text = "export PORT=3000\nexport SECRET=eyJ.a.b\n"
        try scratch.write(text, to: ".envrc")
        try FileManager.default.createSymbolicLink(atPath: scratch("app.env"), withDestinationPath: ".envrc")
        for name in [".envrc", "app.env"] {
            let file = try Samples.file(scratch(name), .env)
            let failure = #expect(throws: Failure.self) {
                try publisher.publish([.variable("SECRET"): try Samples.secret()], in: file)
            }
            #expect(failure?.detail?.hasPrefix("direnv runs .envrc only") == true, "\(name)")
        }
        #expect(try scratch.read(".envrc") == text)
    }

    /// Programs truncate a file, and write it seconds later.
    @Test(arguments: ["", "\n"])
    func aFileThatWasEmptiedIsNotWrittenWithOneLine(content: String) throws {
        let file = try Samples.file(scratch("app.env"), .env)
        let secrets: [FileSlot: Secret] = [.variable("SECRET"): try Samples.secret()]
        let emptied = Failure(.outputEmptied, at: .path(file.path))
        try scratch.write(content, to: "app.env")
        #expect(throws: emptied) { try publisher.publish(secrets, in: file, mayCreate: false) }
        #expect(publisher.problem(with: file, mayCreate: false) == emptied)
        #expect(try scratch.read("app.env") == content)
        for lines in [
            "# only this\n" + content, "SECRET=changeme\n", "SECRET=\(Samples.text(try Samples.secret(1)))\n",
        ] {
            try scratch.write(lines, to: "app.env")
            #expect(try publisher.replaces(secrets, in: file, mayCreate: false))
        }
    }

    @Test func aFileThatAnotherProgramHasOpenForWritingIsNotReplaced() throws {
        try scratch.write("A=1\n", to: "app.env")
        let file = try Samples.file(scratch("app.env"), .env)
        let secrets: [FileSlot: Secret] = [.variable("SECRET"): try Samples.secret()]
        let open = Failure(.openForWriting, at: .path(file.path))
        let writer = try #require(FileHandle(forWritingAtPath: scratch("app.env")))
        #expect(throws: open) { try publisher.publish(secrets, in: file) }
        #expect(try scratch.read("app.env") == "A=1\n")
        #expect(try names() == ["app.env"])
        try writer.close()
        #expect(try publisher.replaces(secrets, in: file))
        // A program that keeps it open for ever does not keep the secret from being written.
        let other = try #require(FileHandle(forWritingAtPath: scratch("app.env")))
        _ = try publisher.publish([.variable("SECRET"): try Samples.secret(1)], in: file, overWriters: true)
        #expect(try publisher.observe(file).fingerprint(.variable("SECRET")) == Samples.secret(1).token.fingerprint)
        try other.close()
    }

    /// An empty directory would be in the way of what brings its lines back.
    @Test(arguments: ["app.env", "gone/app.env", "gone/deeper/app.env"])
    func aFileThatHeldMoreIsNotMadeAgain(name: String) throws {
        let file = try Samples.file(scratch(name), .env)
        let secrets: [FileSlot: Secret] = [.variable("SECRET"): try Samples.secret()]
        let deleted = Failure(.outputDeleted, at: .path(file.path))
        #expect(throws: deleted) { try publisher.publish(secrets, in: file, mayCreate: false) }
        #expect(publisher.problem(with: file, mayCreate: false) == deleted)
        #expect(deleted.remedy?.command == nil)
        let missing = name == "app.env" ? nil : Failure.Code.directoryMissing
        #expect(publisher.problem(with: file, mayCreate: true)?.code == missing)
        // What holds nothing but the secret is none the worse for a new directory.
        #expect(publisher.problem(with: try Samples.file(scratch(name)), mayCreate: false)?.code == missing)
        #expect(try names().isEmpty)
    }

    // MARK: Failures

    @Test(.needs(.root)) func everyFailureNamesTheOutputAndWhatIsWrong() throws {
        try scratch.folder("directory")
        try scratch.write("x", to: "theirs")
        try #require(run(["chown", "daemon", scratch("theirs")]).status == 0)
        for (name, group, words) in [
            ("none/web.jwt", nil, "its directory does not exist: DIR/none (no such file or directory)"),
            ("directory", nil, "it is a directory, not a file"),
            ("theirs", nil, "the file belongs to another user and is not changed: the file belongs to daemon (1)"),
            ("web.jwt", "no-such-group", "there is no such group: no-such-group"),
        ] as [(String, String?, String)] {
            let file = try Samples.file(scratch(name), group: group)
            let failure = #expect(throws: Failure.self) {
                try publisher.publish([.whole: try Samples.secret()], in: file)
            }
            #expect(failure?.message.replacing(scratch.path, with: "DIR") == "DIR/\(name): \(words)")
        }
        #expect(try scratch.read("theirs") == "x")
        #expect(try names() == ["directory", "theirs"])
    }

    @Test func anUnknownGroupDoesNotHideWhatTheFileHolds() throws {
        let secret = try Samples.secret()
        try scratch.write(Samples.text(secret), to: "web.jwt")
        let contents = try publisher.observe(try Samples.file(scratch("web.jwt"), group: "no-such-group"))
        #expect(contents.fingerprint() == secret.token.fingerprint && !contents.isAsConfigured)
    }

    /// What it holds counts; that it cannot be written any more is not to be found out only by the next renewal.
    /// What a stranger's link leads to is not looked at: advice for a missing file would have root create it there.
    @Test(.needs(.root)) func aStrangersLinkToNothingIsNoMissingFile() throws {
        try scratch.link("way", to: "/etc")
        try #require(unsafe lchown(scratch("way"), 65_534, 65_534) == 0)
        let failure = #expect(throws: Failure.self) { try publisher.observe(Samples.file(scratch("way/none-such"))) }
        #expect(failure?.code == .untrustedLink)
    }

    @Test(.needs(.root)) func aFileOfAnotherUserIsNotAsConfigured() throws {
        let secret = try Samples.secret()
        let file = try Samples.file(scratch("web.jwt"))
        _ = try publisher.publish([.whole: secret], in: file)
        try #require(unsafe chown(scratch("web.jwt"), 1234, 1234) == 0)
        let contents = try publisher.observe(file)
        #expect(contents.fingerprint() == secret.token.fingerprint && !contents.isAsConfigured)
        let failure = #expect(throws: Failure.self) { try publisher.publish([.whole: secret], in: file) }
        #expect(failure?.code == .foreignOwner)
    }

    /// A way that is not taken may lead to the file all the same, which applications then read; or to nothing.
    @Test func whereTheWayIsRefusedAFileThatIsGoneIsGone() throws {
        let file = try Samples.file(scratch("open/web.jwt"))
        try scratch.folder("open")
        #expect(try publisher.replaces([.whole: try Samples.secret()], in: file))
        try scratch.permit(0o777, "open")
        #expect(throws: Failure.self) { try publisher.observe(file) }
        try FileManager.default.removeItem(atPath: scratch("open/web.jwt"))
        #expect(try !publisher.observe(file).exists)
        try scratch.link("open/web.jwt", to: scratch("nowhere"))
        #expect(try !publisher.observe(file).exists)
    }

    @Test func aTokenThatWouldNotBePlainTextIsNotWritten() throws {
        let good = try Samples.secret()
        let bad = Secret(token: .init(Array("a\nB=c".utf8)), issued: good.issued)
        let file = try Samples.file(scratch("app.env"), .env)
        #expect(throws: Failure(.selfCheckFailed, at: .path(file.path))) {
            try publisher.publish([.variable("SECRET"): bad], in: file)
        }
        #expect(try names().isEmpty)
    }
}
