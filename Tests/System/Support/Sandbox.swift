import Foundation
import TestSupport
import Testing

/// A directory with a key and a configuration of a test's own, and the real binary run on it.
final class Sandbox {
    let directory: TemporaryDirectory
    /// Where the daemon keeps the configuration that it has adopted.
    let kept: TemporaryDirectory
    let binary = Binaries.daemon
    private var daemon: Process?

    private var notifications: NotifySocket?
    private var starts = 0

    /// Where everything of the daemon's lies.
    var socket: String
    var state: String { directory("state") }

    init() throws {
        directory = try TemporaryDirectory()
        kept = try TemporaryDirectory()
        socket = directory("status.sock")
        try permit(directory.path, 0o755)
        for name in ["keys", "out", "state"] { try makeDirectory(name) }
        try makeKey()
    }

    /// With clients that have one raw output each.
    convenience init(clients names: String...) throws {
        try self.init()
        try configure(names.map { client($0) }.joined())
    }

    /// The same with its daemon running.
    static func running(_ names: String...) throws -> Sandbox {
        let sandbox = try Sandbox()
        try sandbox.configure(names.map { sandbox.client($0) }.joined())
        try sandbox.start()
        return sandbox
    }

    deinit {
        stop(SIGKILL)
    }

    /// The configuration's path.
    var configuration: String { directory("clientsecretd.yaml") }

    /// The key's path; Apple's file names carry the key id.
    var key: String { directory("keys/AuthKey_ABC123DEFG.p8") }

    /// Makes a key in Apple's form, in place of the one that is there.
    func makeKey(at path: String? = nil) throws {
        let path = path ?? key
        try runToSuccess([
            "openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", path,
        ])
        try permit(path, 0o600)
    }

    /// Writes the configuration: the sandbox's key and perhaps another one, the state directory and these clients.
    func configure(
        _ clients: String, key other: String? = nil, others: String = "", stateDirectory: String? = nil
    ) throws {
        try directory.write(
            """
            keys:
              apple:
                team_id: DEF123GHIJ
                file: \(key)\(other.map { "\n  " + $0 } ?? "")
            state_dir: \(stateDirectory ?? state)
            \(others)
            clients:
            \(clients)
            """, to: "clientsecretd.yaml")
    }

    /// A client with one raw output.
    func client(_ name: String, lifetime: String = "90d", more: String = "") -> String {
        """
          \(name):
            client_id: com.example.\(name)
            lifetime: \(lifetime)
            outputs:
              - path: \(directory("out/\(name).jwt"))
        \(more)

        """
    }

    /// Makes this a machine without the private key: one that receives what `signer` mints.
    ///
    /// - Parameter signer: one that has a configuration, whose `public-key` is asked.
    func configure(following signer: Sandbox, _ clients: String, others: String = "") throws {
        try directory.write(
            """
            \(signer.succeed("public-key"))
            state_dir: \(state)
            \(others)
            clients:
            \(clients)
            """, to: "clientsecretd.yaml")
    }

    // MARK: Files

    /// What a client's raw output holds.
    func published(_ client: String = "web") throws -> String { try directory.read("out/\(client).jwt") }

    func isThere(_ name: String) -> Bool { FileManager.default.fileExists(atPath: directory(name)) }

    func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: directory(name)) }

    /// Moves by rename(2): what had the other name is replaced.
    func move(_ name: String, to target: String) throws {
        let moved = unsafe rename(directory(name), directory(target))
        try #require(moved == 0)
    }

    /// The permission bits of a file in the sandbox.
    func mode(of name: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: directory(name))[.posixPermissions] as? Int
    }

    /// Makes a directory in the sandbox.
    func makeDirectory(_ name: String, mode: Int = 0o700) throws {
        try FileManager.default.createDirectory(
            atPath: directory(name), withIntermediateDirectories: false, attributes: [.posixPermissions: mode])
    }

    /// Gives a file these permission bits.
    func permit(_ path: String, _ mode: Int) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    // MARK: The daemon

    /// Starts the daemon and waits until it says READY to a service manager of the test's own.
    ///
    /// - Parameter wrapper: a program, found in PATH, with its arguments that becomes the daemon, as `strace -D` does.
    func start(environment: [String: String] = [:], waiting: Bool = true, under wrapper: [String] = []) throws {
        // A socket of its own for each start: that of the one before is perhaps still being listened to.
        starts += 1
        let notifications = try NotifySocket(at: directory("notify-\(starts)"))
        self.notifications = notifications
        let process = Process()
        process.executableURL = URL(fileURLWithPath: wrapper.isEmpty ? binary : "/usr/bin/env")
        let program = wrapper.isEmpty ? [] : wrapper + [binary]
        process.arguments = program + ["run", "--config", configuration, "--socket", socket]
        // What it adopts it keeps there, for nothing of a test's is to be found later.
        process.environment = [
            "PATH": "/usr/bin:/bin", "NOTIFY_SOCKET": notifications.path, "STATE_DIRECTORY": kept.path,
        ]
        .merging(environment) { _, new in new }
        let log = directory("log")
        if !FileManager.default.fileExists(atPath: log) { try directory.write("", to: "log") }
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: log))
        try handle.seekToEnd()
        process.standardOutput = handle
        process.standardError = handle
        process.standardInput = FileHandle.nullDevice
        try process.run()
        try handle.close()
        daemon = process
        guard waiting else { return }
        do {
            try notifications.wait(for: "READY=1", while: { !process.hasEnded })
        } catch {
            Issue.record("the daemon did not come to be ready, saying: \(lastWords)")
            throw error
        }
        notifications.follow()
    }

    /// What the daemon last told its service manager under this name, such as `STATUS`.
    func told(_ name: String) -> String? { notifications?.last(name) }

    /// Ends the daemon and returns its exit status.
    @discardableResult
    func stop(_ signal: Int32 = SIGTERM) -> Int32? {
        guard let daemon else { return nil }
        if !daemon.hasEnded { kill(daemon.processIdentifier, signal) }
        let status = daemon.awaitEnd()
        self.daemon = nil
        notifications?.end()
        return status
    }

    var processID: Int32? { daemon?.processIdentifier }

    var isRunning: Bool { daemon.map { !$0.hasEnded } ?? false }

    func log() throws -> String { try directory.read("log") }

    /// How the log ends.
    var lastWords: Substring { (try? log().suffix(2_000)) ?? "" }

    /// Runs one of the commands to its end, or for five minutes: one that hangs fails its test and not the whole run.
    @discardableResult
    func command(_ arguments: String..., input: String = "") throws -> Finished {
        try command(arguments, input: input)
    }

    @discardableResult
    func command(_ arguments: [String], input: String = "") throws -> Finished {
        while true {
            let finished = try run(
                ["timeout", "--foreground", "--signal=KILL", "5m", binary] + arguments, input: Data(input.utf8),
                environment: environment)
            // Everybody but root renews and reloads once in ten seconds.
            let refused = /a moment ago; try again in (\d+) s \(root need not wait\)/
            guard !isRoot, let seconds = finished.complaints.firstMatch(of: refused)?.1 else { return finished }
            sleep(UInt32(seconds) ?? 10)
        }
    }

    /// Runs a command that has to succeed, and returns what it prints.
    @discardableResult
    func succeed(
        _ arguments: String..., input: String = "", sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> String {
        let finished = try command(arguments, input: input)
        #expect(finished.status == 0, "\(arguments): \(finished)", sourceLocation: sourceLocation)
        return finished.output
    }

    /// What a command is told of where things lie.
    var environment: [String: String] {
        [
            "CLIENTSECRETD_CONFIG": configuration, "CLIENTSECRETD_SOCKET": socket, "NO_COLOR": "1",
            "STATE_DIRECTORY": kept.path,
        ]
    }

    /// What the status socket answers to a GET: the status line, and the body.
    func get(_ path: String) throws -> (status: String, body: String) {
        let connection = try StatusConnection(socket)
        try connection.send("GET \(path) HTTP/1.0\r\nHost: h\r\n\r\n")
        let answer = try connection.everything()
        let parts = answer.components(separatedBy: "\r\n\r\n")
        return (
            answer.components(separatedBy: "\r\n")[0], parts.dropFirst().joined(separator: "\r\n\r\n")
        )
    }

    /// The API's document, which is what `status --json` prints. It is asked for over and over while a test waits for
    /// something, and a program for each question would keep a processor busy.
    func status() throws -> [String: Any] {
        let answer = try get("/v1/status")
        try #require(answer.status.contains(" 200 "), "\(answer)")
        return try object(answer.body)
    }

    /// Waits until a renewal mints another secret: one with the same claims is the same secret.
    func awaitNextSecond() {
        let last = time(nil)
        while time(nil) == last { usleep(10_000) }
    }

    /// Waits until `condition` holds, looking again whenever the daemon has had time to act; fails after `timeout`
    /// seconds, which is there to end a test whose daemon does nothing.
    func eventually(_ what: String, within timeout: Int = 120, _ condition: () throws -> Bool) throws {
        let end = ContinuousClock.now + .seconds(timeout)
        var attempt: UInt32 = 0
        while ContinuousClock.now < end {
            if try condition() { return }
            // Most of what is waited for takes some milliseconds; what does not is asked for less often.
            attempt += 1
            usleep(min(attempt * 10_000, attempt < 50 ? 100_000 : 300_000))
        }
        Issue.record("\(what) did not happen; the log:\n\((try? log()) ?? "")")
    }

    /// Waits for what a notice brings about: within half of the minute after which the daemon would look by itself.
    func soon(_ what: String, _ condition: () throws -> Bool) throws {
        try eventually(what, within: 30, condition)
    }

    /// Waits until no thread of the daemon's has run for some seconds: what it looks at once more after its start and its
    /// own writes is looked at by then. One that wakes once in that time never comes to rest, and fails.
    func awaitRest(seconds: Int = 3) throws {
        let tasks = "/proc/\(try #require(processID))/task"
        func switches() throws -> [String: Substring?] {
            let threads = try FileManager.default.contentsOfDirectory(atPath: tasks)
            return Dictionary(
                uniqueKeysWithValues: threads.map { thread in
                    let status = try? String(contentsOfFile: "\(tasks)/\(thread)/status", encoding: .utf8)
                    return (thread, status?.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches:") })
                })
        }
        var last = try switches()
        var since = ContinuousClock.now
        try eventually("rest", within: 60 + seconds) {
            let now = try switches()
            if now != last { (last, since) = (now, .now) }
            return .now - since >= .seconds(seconds)
        }
    }

    /// The header and claims of a token whose signature OpenSSL verified: an independent judge.
    ///
    /// - Parameter timeless: whether the token may be of any time.
    func judge(_ token: String, timeless: Bool = false) throws -> [String: Any] {
        let judge = [repository + "/Tests/Support/judge-token.py", key] + (timeless ? ["timeless"] : [])
        return try object(runToSuccess(["/usr/bin/python3"] + judge, input: Data(token.utf8)))
    }

    /// The claims of such a token.
    @discardableResult
    func claims(of token: String, timeless: Bool = false) throws -> [String: Any] {
        try #require(try judge(token, timeless: timeless)["claims"] as? [String: Any])
    }

    /// A secret with any claims, as no command would mint it; a number in them is an offset from now.
    ///
    /// - Parameter claims: a JSON object.
    func sign(_ claims: String) throws -> String {
        try runToSuccess([repository + "/scripts/sign-token", key, "ABC123DEFG", claims])
    }

    /// Every file below the sandbox whose name is that of a temporary.
    func leftovers() -> [String] {
        let names = FileManager.default.enumerator(atPath: directory.path)?.compactMap { $0 as? String } ?? []
        return names.filter { ($0 as NSString).lastPathComponent.hasPrefix(".clientsecretd-") }
    }

    /// Waits until there are no temporary files: a daemon that runs may be writing one right now.
    func expectNoLeftovers(_ comment: Comment = "") throws {
        try eventually("no temporary file, \(comment)") { leftovers() == [] }
    }
}
