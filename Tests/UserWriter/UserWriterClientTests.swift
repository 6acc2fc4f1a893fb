import AppleClientSecret
import Failures
import Foundation
import Linux
import Model
import Outputs
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import UserWriter

/// What the daemon makes of the answers of a writer that lies: another user's word.
@Suite(.needs(.root)) struct UserWriterClientTests {
    /// A writer that hears what is asked and answers with `bytes`; what the line makes of it.
    private func report(_ bytes: [UInt8], hearing: Bool = true) throws -> Result<OutputContents, Failure> {
        try answering(bytes, hearing: hearing) { observe(beside: $0) }.value
    }

    /// What `body` makes of such a writer beside a status socket, and how many connections were made.
    private func answering<Value>(
        _ bytes: [UInt8], hearing: Bool = true, _ body: (String) throws -> Value
    ) throws -> (value: Value, connections: Int) {
        let directory = try TemporaryDirectory()
        try directory.folder("writer")
        let listener = Handed(
            try ListeningSocket(path: directory("writer/app.sock"), mode: 0o600).descriptor.duplicate().release())
        let done = DispatchSemaphore(value: 0)
        let connections = Atomic(0)
        Thread.detachNewThread {
            while listener.answer(bytes, hearing: hearing) { connections.add(1, ordering: .sequentiallyConsistent) }
            done.signal()
        }
        let value = Result { try body(directory("status.sock")) }
        shutdown(listener.raw, Int32(SHUT_RDWR))
        done.wait()
        close(listener.raw)
        return (try value.get(), connections.load(ordering: .sequentiallyConsistent))
    }

    /// - Parameter user: not root, for whom nothing is started.
    private func client(beside socket: String, user: UInt32 = 4_711) -> UserWriterClient {
        UserWriterClient(
            besideSocket: socket, configuration: "/etc/c d/c.yaml", identity: Identity(user: user, group: user),
            cancel: nil)
    }

    private func observe(beside socket: String, user: UInt32 = 4_711) -> Result<OutputContents, Failure> {
        observe(by: client(beside: socket, user: user))
    }

    private func observe(by line: UserWriterClient) -> Result<OutputContents, Failure> {
        do throws(Failure) {
            return .success(try line.contents(of: file(), after: WriterRequest(.observe, file()), as: "app"))
        } catch {
            return .failure(error)
        }
    }

    private func file() throws(Failure) -> FileSpec {
        do { return try Samples.file() } catch { throw Failure(.systemError, at: .named("\(error)")) }
    }

    private func failure(_ result: Result<OutputContents, Failure>) -> Failure? {
        if case .failure(let failure) = result { failure } else { nil }
    }

    @Test func everyPlaceIsNamedWithItsContents() throws {
        let token = try Samples.token()
        let text = token.withBytes { String(decoding: $0, as: UTF8.self) }
        let report = try report(
            Samples.line(
                """
                {"version":1,"contents":{"exists":true,"otherLines":true,"isAsConfigured":true,"places":[\
                {"variable":"SECRET","token":"\(text)"},{"variable":"PATH","token":"\(text)"},{"token":"\(text)"}]}}
                """)
        ).get()
        #expect(report.exists && report.otherLines && report.isAsConfigured)
        // What was not asked for does not count.
        #expect(report.slots.count == 1)
        guard case .token(let seen)? = report.slots[.variable("SECRET")] else {
            Issue.record("\(report.slots)")
            return
        }
        #expect(seen.fingerprint == token.fingerprint)
        #expect(!report.isWatchable)
    }

    @Test func editsThatWouldFailAreNamedVariableByVariable() throws {
        let report = try report(
            Samples.line(
                #"{"version":1,"contents":{"exists":true,"otherLines":true,"isAsConfigured":true,"places":[],"#
                    + #""doubtful":{"SECRET":"line 2: \u001b[31m","PATH":"line 3"}}}"#)
        ).get()
        #expect(report.editFailures.map(\.key) == [.variable("SECRET")])
        let failure = try #require(report.editFailures.values.first)
        #expect(failure.code == .outputMalformed)
        #expect(failure.detail?.contains("line 2") == true && failure.detail?.contains("\u{1b}") == false)
        let again = try #require(WriterAnswer(report).contents?.doubtful["SECRET"])
        #expect(again == failure.detail)
    }

    private func place(holding token: String) -> [UInt8] {
        Samples.line(
            #"{"version":1,"contents":{"exists":true,"otherLines":false,"isAsConfigured":true,"#
                + #""places":[{"variable":"SECRET","token":\#(token)}]}}"#)
    }

    @Test func aPlaceWithoutATokenIsForeign() throws {
        let report = try report(place(holding: "null")).get()
        guard case .foreign? = report.slots[.variable("SECRET")] else {
            Issue.record("\(report.slots)")
            return
        }
        // A writer says so of a text that is too long for a token.
        let long = "\"\(String(repeating: "A", count: Token.maximumLength + 1))\""
        #expect(failure(try self.report(place(holding: long)))?.code == .writerGarbled)
    }

    /// systemd closes what waits when a writer has ended, and starts one for each connection: the requests for fifty files must not
    /// start a hundred that cannot run. Three files are enough, and asked about before a second has passed.
    @Test func aWriterThatDropsRequestsIsAskedAgainOnceAndThenRests() throws {
        let (found, connections) = try answering([]) { socket in
            let line = client(beside: socket)
            return (0..<3).map { _ in failure(observe(by: line))?.code }
        }
        #expect(found.allSatisfy { $0 == .writerSilent })
        #expect(connections == 2)
    }

    @Test(arguments: [
        ("", Failure.Code.writerSilent), ("\u{0}\u{0}", .writerGarbled), ("\u{7f}\u{7f}\u{7f}\u{7f}", .writerGarbled),
        ("\u{0}\u{0}\u{0}\u{2}xx", .writerGarbled), ("\u{0}\u{0}\u{0}\u{9}{}", .writerGarbled),
    ])
    func aTextThatIsNoAnswerSaysSo(text: String, code: Failure.Code) throws {
        #expect(failure(try report(Array(text.utf8)))?.code == code)
        // Who does not even hear what is asked resets the connection.
        let deaf = try #require(failure(try report(Array(text.utf8), hearing: false)))
        #expect([code, .writerSilent].contains(deaf.code))
    }

    @Test(arguments: [
        #"{"version":2}"#, #"{"version":1}"#, #"{"version":1,"fault":{"code":"refused_by_apple"}}"#,
        #"{"version":1,"fault":{"code":"key_missing"}}"#, #"{"version":1,"fault":{"code":"state_locked"}}"#,
        #"{"version":1,"fault":{"code":"nonsense"}}"#, #"{"version":1,"fault":{}}"#, "[]",
    ])
    func anAnswerThatNoWriterGivesIsGarbled(text: String) throws {
        #expect(failure(try report(Samples.line(text)))?.code == .writerGarbled)
    }

    @Test func aFaultIsReportedInItsWordsButWithoutItsAdvice() throws {
        let secret = String(repeating: "s3cret", count: 20)
        let fault =
            #"{"version":1,"fault":{"code":"permission_denied","cause":13,"detail":"/srv/app\n\u001b[31m \#(secret); rm -rf /"}}"#
        let failed = try #require(failure(try report(Samples.line(fault))))
        #expect(failed.code == .permissionDenied && failed.cause == 13)
        #expect(
            failed.sentence
                == "/srv/app/.env: access is denied to the user that reads or writes it: '/srv/app\\n\\x1b[31m (120 characters), rm -rf /' "
                + "(permission denied); let user \"app\" enter /srv/app and write there, or write another path (namei -l /srv/app/.env)"
        )
    }

    /// `chown` follows links, and another name of a file is that file.
    @Test(arguments: ["plain", "link", "way/shadow", "rootslink", "second", "shared"])
    func onlyAFileThatIsRootsOwnIsGivenBack(name: String) throws {
        let directory = try TemporaryDirectory(in: "/var/lib")
        try #require(unsafe chmod(directory.path, 0o755) == 0)
        try directory.folder("app")
        for file in ["app/plain", "other"] { try directory.write("A=1\n", to: file) }
        for (link, target) in [
            ("link", "/etc/shadow"), ("way", "/etc"), ("rootslink", "/etc/shadow"), ("shared", "plain"),
        ] {
            try directory.link("app/\(link)", to: target)
        }
        try FileManager.default.linkItem(atPath: directory("other"), toPath: directory("app/second"))
        for owned in ["app", "app/link", "app/way", "app/shared"] {
            try #require(unsafe lchown(directory(owned), 65_534, 65_534) == 0)
        }
        let path = try #require(AbsolutePath(directory("app/\(name)")))
        for code in [Failure.Code.foreignOwner, .permissionDenied] {
            let remedy = try #require(UserWriterRemedies.remedy(code, "nobody", path, "/etc/c.yaml"))
            // What the user's own link leads to in the user's own directory is what root has edited.
            #expect(
                remedy.description.contains("give it back")
                    == (["plain", "shared"].contains(name) && code == .foreignOwner))
            let isUsersLink = ["link", "way/shadow"].contains(name)
            #expect((remedy.words == "remove the link") == isUsersLink)
            #expect(
                (remedy.command?.hasPrefix("runuser -u nobody -- find \(directory("app"))/") == true) == isUsersLink)
        }
    }

    /// As with releases that have a link to a shared file: the release is the user's, and not what failed.
    @Test(arguments: [
        (
            Failure.Code.permissionDenied,
            "SHARED belongs to root: write a path in a directory that user \"nobody\" owns"
        ),
        (
            .readOnlyFileSystem,
            "mount it writable, or let clientsecretd-writer@nobody.service write to SHARED, with the lines that are printed"
        ),
        (.diskFull, "free some space (df -h --output SHARED)"),
    ])
    func theDirectoryOfALinksTargetIsNamed(code: Failure.Code, words: String) throws {
        let directory = try TemporaryDirectory(in: "/var/lib")
        try #require(unsafe chmod(directory.path, 0o755) == 0)
        for folder in ["release", "shared"] { try directory.folder(folder) }
        try directory.link("current", to: "release")
        try directory.link("release/.env", to: "../shared/.env")
        try directory.write("A=1\n", to: "shared/.env")
        for owned in ["current", "release", "release/.env", "shared/.env"] {
            try #require(unsafe lchown(directory(owned), 65_534, 65_534) == 0)
        }
        let path = try #require(AbsolutePath(directory("current/.env")))
        let remedy = try #require(UserWriterRemedies.remedy(code, "nobody", path, "/etc/c.yaml"))
        #expect(remedy.description.hasPrefix(words.replacing("SHARED", with: directory("shared"))), "\(remedy)")
    }

    /// A mount that is read-only outside of all sandboxes is so in the writer's.
    @Test(.needs(.root)) func aDirectoryThatIsMountedReadOnlyIsNotTheSandboxsFault() throws {
        let directory = try TemporaryDirectory(in: "/var/lib")
        try #require(unsafe chmod(directory.path, 0o755) == 0)
        try #require(unsafe chown(directory.path, 65_534, 65_534) == 0)
        try #require(TestSupport.run(["mount", "--bind", directory.path, directory.path]).status == 0)
        defer { _ = try? TestSupport.run(["umount", directory.path]) }
        try #require(TestSupport.run(["mount", "-o", "remount,bind,ro", directory.path]).status == 0)
        let path = try #require(AbsolutePath(directory("web.jwt")))
        let remedy = try #require(UserWriterRemedies.remedy(.readOnlyFileSystem, "nobody", path, "/etc/c.yaml"))
        #expect(
            remedy.description
                == "the mount at \(directory.path) is read-only: mount it writable, or write another path")
    }

    /// An application reads the file by its group. A user's file may have a group that its owner chose, so root decides.
    @Test(.needs(.root), arguments: [("root", nil), ("nobody", nil), ("nobody", "daemon")] as [(String, String?)])
    func theFilesGroupIsGivenToItsWriter(user: String, configured: String?) throws {
        let directory = try TemporaryDirectory(in: "/var/lib")
        try #require(unsafe chmod(directory.path, 0o755) == 0)
        try directory.write("A=1\n", to: ".env")
        let owner = try #require(try Accounts.userID(user))
        let group = try #require(try Accounts.groupID("daemon"))
        try #require(unsafe chown(directory(".env"), owner, configured == nil ? group : 0) == 0)
        let path = try #require(AbsolutePath(directory(".env")))
        let remedy = try #require(
            UserWriterRemedies.remedy(.groupNotPermitted, user, path, "/etc/c.yaml", group: configured))
        let isRun = user == "root" || configured != nil
        #expect((remedy.command != nil) == isRun)
        let shown = isRun ? remedy.command : remedy.words
        #expect(shown?.contains("SupplementaryGroups=daemon") == true, "\(remedy)")
        #expect(shown?.contains("/etc/systemd/system/clientsecretd-writer@\(user).service.d/") == true, "\(remedy)")
    }

    /// The daemon's own limits are not in its way.
    @Test(arguments: [(Failure.Code.outOfDescriptors, Int32(24), "LimitNOFILE="), (.outOfTasks, 11, "TasksMax=")])
    func aLimitOfAWriterIsRaisedInItsUnit(code: Failure.Code, cause: Int32, setting: String) throws {
        let path = try #require(AbsolutePath("/srv/app/.env"))
        let remedy = try #require(UserWriterRemedies.remedy(code, "nobody", path, "/etc/c.yaml", cause: cause))
        #expect(remedy.description.contains("raise \(setting)"))
        #expect(remedy.description.contains(" of clientsecretd-writer@nobody.service"))
    }

    @Test func aWriterWithoutAConfigurationSaysWhatItNeeds() throws {
        let fault = #"{"version":1,"fault":{"code":"writer_unconfigured","detail":"there is no such file; make one"}}"#
        #expect(
            failure(try report(Samples.line(fault)))?.sentence
                == "/srv/app/.env: the writer for its user cannot use the configuration: 'there is no such file, make one'; "
                + "let user \"app\" read '/etc/c d/c.yaml': give it a group that user \"app\" and the daemon's user are in, and mode 0640 "
                + "(namei -l '/etc/c d/c.yaml')")
    }

    @Test(.needs(.root)) func whatTheWritersUserMayReadIsToBeCorrected() throws {
        let directory = try TemporaryDirectory(in: "/var/lib")
        try #require(unsafe chmod(directory.path, 0o755) == 0)
        try directory.write("clients:\n", to: "c.yaml")
        try directory.folder("c.d")
        try directory.write("clients:\n", to: "c.d/more.yaml")
        let path = try #require(AbsolutePath("/srv/app/.env"))
        func words(_ name: String, _ mode: mode_t) throws -> String? {
            let modes: [(String, mode_t)] = [("c.yaml", 0o644), ("c.d", 0o755), ("c.d/more.yaml", 0o644), (name, mode)]
            for (name, mode) in modes {
                try #require(unsafe chown(directory(name), 0, 65_534) == 0)
                try #require(unsafe chmod(directory(name), mode) == 0)
            }
            return UserWriterRemedies.remedy(.writerUnconfigured, "nobody", path, directory("c.yaml"))?.words
        }
        let correct = "correct the configuration and reload it (clientsecretd check)"
        #expect(try words("c.yaml", 0o644) == correct)
        #expect(try words("c.yaml", 0o640) == correct)
        #expect(try words("c.d/more.yaml", 0o640) == correct)
        let advice = "give it a group that user \"nobody\" and the daemon's user are in, and mode"
        let (more, additions) = (directory("c.d/more.yaml"), directory("c.d"))
        #expect(
            try words("c.d/more.yaml", 0o600)
                == "let user \"nobody\" read \(more): \(advice) 0640 (namei -l \(more))")
        #expect(
            try words("c.d", 0o700)
                == "let user \"nobody\" enter and read \(additions): \(advice) 0750 (namei -l \(additions))")
    }

    @Test(.needs(.root)) func theDirectoryThatIsClosedToAWritersUserIsNamed() throws {
        let directory = try TemporaryDirectory(in: "/var/lib")
        try #require(unsafe chmod(directory.path, 0o755) == 0)
        try directory.folder("etc")
        try directory.write("clients:\n", to: "etc/c.yaml")
        try #require(unsafe chmod(directory("etc/c.yaml"), 0o640) == 0)
        let path = try #require(AbsolutePath("/srv/app/.env"))
        func words(mode: mode_t, group: gid_t) throws -> String? {
            try #require(unsafe chown(directory("etc"), 0, group) == 0)
            try #require(unsafe chmod(directory("etc"), mode) == 0)
            return UserWriterRemedies.remedy(.writerUnconfigured, "nobody", path, directory("etc/c.yaml"))?.words
        }
        let closed = "let user \"nobody\" enter \(directory("etc")) (namei -l \(directory("etc/c.yaml")))"
        #expect(try words(mode: 0o750, group: 4_711) == closed)
        let unreadable = "let user \"nobody\" read \(directory("etc/c.yaml")): "
        #expect(try words(mode: 0o755, group: 4_711)?.hasPrefix(unreadable) == true)
        // Its own group.
        #expect(try words(mode: 0o750, group: 65_534)?.hasPrefix(unreadable) == true)
    }

    @Test func withoutAListenerTheSocketIsNamed() throws {
        let directory = try TemporaryDirectory()
        let missing = failure(observe(beside: directory("status.sock")))
        #expect(
            missing?.sentence
                == "/srv/app/.env: no writer can be reached for its user: \(directory("writer/app.sock")) "
                + "(no such file or directory); systemctl enable --now clientsecretd-writer@app.socket")
        try directory.folder("writer")
        endListening(
            try ListeningSocket(path: directory("writer/app.sock"), mode: 0o600).descriptor.duplicate().release())
        let refused = failure(observe(beside: directory("status.sock")))
        #expect(refused?.code == .writerMissing && refused?.cause == 111)
    }

    @Test func aSocketOfAnotherUserGetsNothing() throws {
        let directory = try TemporaryDirectory()
        _ = unsafe chmod(directory.path, 0o755)
        try FileManager.default.createDirectory(
            atPath: directory("writer"), withIntermediateDirectories: false,
            attributes: [.ownerAccountID: 23_456])
        let script = """
            use IO::Socket::UNIX; umask 0; my $s = IO::Socket::UNIX->new(Local => '\(directory("writer/app.sock"))',
            Listen => 1) or die $!; $| = 1; print "listening\\n"; my $c = $s->accept;
            my $n = sysread($c, my $b, 10); print "heard $n\\n";
            """
        let listening = try Background([
            "setpriv", "--reuid=23456", "--regid=23456", "--clear-groups", "perl", "-e", script,
        ])
        try #require(listening.firstLine == "listening")
        let refused = try #require(failure(observe(beside: directory("status.sock"))))
        #expect(refused.code == .writerNotPermitted)
        #expect(refused.message.contains("does not belong to root"))
        #expect(try String(decoding: listening.nextLine(), as: UTF8.self) == "heard 0")
    }
}

/// A listening descriptor on its way to another thread.
private final class Handed: Sendable {
    let raw: Int32

    init(_ raw: Int32) { self.raw = raw }

    /// Returns false once the listener was shut down.
    func answer(_ bytes: [UInt8], hearing: Bool) -> Bool {
        var waiting = pollfd(fd: raw, events: Int16(POLLIN), revents: 0)
        _ = unsafe poll(&waiting, 1, 60_000)
        let accepted = accept(raw, nil, nil)
        guard accepted >= 0 else { return false }
        serve(accepted, bytes, hearing)
        return true
    }

    private func serve(_ connection: Int32, _ bytes: [UInt8], _ hearing: Bool) {
        var stream = UnixStream(adopting: Descriptor(adopting: connection), milliseconds: 60_000)
        if hearing { _ = try? WriterMessage.read(WriterRequest.self, from: &stream) }
        try? stream.write(bytes)
    }
}
