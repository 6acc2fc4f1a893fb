import Foundation
import TestSupport
import Testing

/// Programs of other people, set up as docs/consumers.md says, that sign users in while their secret is renewed.
@Suite(.enabled("needs gunicorn and Authlib: make test-deps") { try Gunicorn.isInstalled })
struct ConsumersTests {
    private let own: Operator
    private let apple: StandIn

    init() throws {
        own = try Operator()
        apple = try own.standIn()
        let guide = try String(contentsOfFile: repository + "/docs/consumers.md", encoding: .utf8)
        let block = try #require(guide.firstMatch(of: #/`app\.py`:\n\n```python\n((?s:.*?))```/#))
        try own.directory.write(String(block.output.1), to: "app.py")
    }

    private func configure(_ more: String) throws {
        try own.directory.write(
            """
            keys: {apple: {team_id: \(Operator.team), file: \(own.keyFile)}}
            state_dir: \(own.directory("state"))
            clients:
              web:
                client_id: \(Operator.client)
                lifetime: 2m
                renew_before: 1m
                outputs: [{path: \(own.secretFile)}]
            \(more)
            """, to: "clientsecretd.yaml")
    }

    /// Becomes a program that gets its signals: those that are blocked here would stay so in it.
    private static let unblocked =
        "import os, signal, sys; signal.pthread_sigmask(signal.SIG_SETMASK, []); os.execv(sys.argv[1], sys.argv[1:])"

    /// gunicorn with the application of the guide.
    private func serve(as name: String) throws -> Background {
        try Background([
            "/bin/sh", "-c",
            """
            export APPLE='\(apple.address)' APPLE_SECRET_FILE='\(own.secretFile)' REQUESTS_CA_BUNDLE='\(apple.authority)'
            export no_proxy='*'
            cd '\(own.directory.path)'
            echo started
            exec '\(python)' -c '\(Self.unblocked)' '\(Gunicorn.folder)/gunicorn' --pid \(name).pid \\
                --bind unix:\(name).sock app:application >/dev/null 2>\(name).log
            """,
        ])
    }

    private func curl(_ arguments: String...) throws -> Finished {
        try run(["curl", "--silent", "--show-error", "--fail", "--max-time", "30", "--noproxy", "*"] + arguments)
    }

    /// Signs a user in by the application that listens at this socket, as a browser does.
    private func signsIn(by name: String) throws -> Bool {
        let socket = own.directory("\(name).sock")
        // It may not listen yet at its start.
        let login = try curl(
            "--unix-socket", socket, "--retry", "60", "--retry-all-errors", "--retry-delay", "1", "--output",
            "/dev/null",
            "--write-out", "%{redirect_url}", "http://localhost/login")
        try #require(login.status == 0, "\(login.complaints)")
        let form = try curl(
            "--cacert", apple.authority, "--header", "Accept: application/x-www-form-urlencoded", login.output)
        try #require(form.status == 0, "\(form.complaints)")
        return try curl("--unix-socket", socket, "http://localhost/callback?\(form.output)").output == "signed in\n"
    }

    @Test func gunicornWithAuthlibNeverSendsAnExpiredSecret() throws {
        try FileManager.default.createDirectory(atPath: own.directory("state"), withIntermediateDirectories: false)
        try FileManager.default.removeItem(atPath: own.secretFile)
        try configure("")
        let first = try own.clientsecretd("run", "--once")
        try #require(first.status == 0, "\(first.complaints)")
        let told = try serve(as: "told")
        let untold = try serve(as: "untold")
        defer { withExtendedLifetime((told, untold)) {} }
        #expect(try signsIn(by: "told"))
        #expect(try signsIn(by: "untold"))

        try configure(
            "    on_change: [{exec: [/usr/bin/pkill, --signal, HUP, --pidfile, \(own.directory("told.pid"))]}]")
        let daemon = try Background([
            "/bin/sh", "-c",
            "echo started; exec '\(own.binary)' run --config '\(own.configuration)' --socket '\(own.directory("sock"))' 2>'\(own.directory("log"))'",
        ])
        defer { withExtendedLifetime(daemon) {} }
        var secrets: [String] = []
        var logins = 2
        // A login a second until the secret was renewed three times and the first one is over; the limit ends a test in which
        // nothing is renewed.
        for _ in 0..<300 {
            let secret = try own.directory.read("web.jwt")
            if secrets.last != secret { secrets.append(secret) }
            let isFirstOver = try own.clientsecretd("inspect", "-", input: secrets[0]).status == 1
            if secrets.count > 3, isFirstOver { break }
            logins += 1
            let isSignedIn = try signsIn(by: "told")
            let words = try own.directory.read("told.log").suffix(2_000)
            try #require(isSignedIn, "login \(logins): \(words)")
            usleep(1_000_000)
        }
        #expect(secrets.count > 3, "\((try? own.directory.read("log")) ?? "")")
        let tokens = try apple.log().filter { $0.hasPrefix("/auth/token") }
        #expect(tokens == Array(repeating: "/auth/token tokens", count: logins))
        // What was never told goes on with the first secret, and is refused: the stand-in does judge.
        #expect(try !signsIn(by: "untold"))
        #expect(try apple.log().last == "/auth/token invalid_client: expired")
    }
}

private enum Gunicorn {
    static let folder = (python as NSString).deletingLastPathComponent

    static var isInstalled: Bool {
        get throws {
            let isThere = FileManager.default.isExecutableFile(atPath: folder + "/gunicorn")
            return try Prerequisite.check(isThere, "gunicorn and Authlib are not installed: make test-deps")
        }
    }
}
