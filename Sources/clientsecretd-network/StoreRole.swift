import AppleClientSecret
import ArgumentParser
import Config
import Failures
import Glibc
import Keys
import Linux
import SignIn
import Store

/// `store`: reads and puts secrets in etcd, for as long as standard input is open.
struct StoreRole: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store",
        abstract: "Read and put client secrets in etcd.",
        discussion: """
            Reads a line for each question, {"do": "read", "slots": ["TEAM/CLIENT_ID/KEYPRINT"]} or {"do": "put", "slot", \
            "token", "revision"}, and answers each with a line: {"result": "read", "values": [{"state", "token", \
            "revision"}]}, {"result": "put", "revision"}, {"result": "conflict", "value"} or {"result": "failed", "code", \
            "detail", "retry_after"}. Between them stand lines {"notice"}: "watching", "changed" or "unwatched". Where the \
            store is stands under "store" in the configuration. It ends with its input.
            """)

    @Option(
        help: ArgumentHelp(
            "The configuration; otherwise the credential clientsecretd.yaml, or \(ConfigurationLoader.defaultPath).",
            valueName: "file"),
        completion: .file())
    var config: String?

    func run() throws {
        // A reader that is gone is an error of the write.
        signal(SIGPIPE, SIG_IGN)
        var lines = QuestionLines()
        let answerer: Answerer
        do throws(StoreFailure) {
            answerer = try Answerer(configuration: configured(), credentials: credentials)
        } catch {
            // The daemon learns why from each answer.
            while (try lines.next({ [] })) != nil { try Output.answer(StoreResult.failed(error).answer) }
            return
        }
        while let line = try lines.next(answerer.client.wait) {
            guard let question = StoreQuestion(request: line, sha256: SHA256.digest) else {
                throw ValidationError("a question is no JSON object with \"do\" and what that takes")
            }
            try Output.answer(answerer.answer(question).answer)
        }
    }

    /// `$CREDENTIALS_DIRECTORY`, set by systemd's LoadCredential=.
    private var credentials: String? {
        unsafe getenv("CREDENTIALS_DIRECTORY").map { unsafe String(cString: $0) }
    }

    private func configured() throws(StoreFailure) -> StoreConfiguration {
        let handed = credentials.map { $0 + "/clientsecretd.yaml" }
        let isHanded = handed.map { unsafe access($0, F_OK) == 0 } ?? false
        let path: String = config ?? (isHanded ? handed : nil) ?? ConfigurationLoader.defaultPath
        switch ConfigurationLoader.store(path: path, as: .current()) {
        case .success(let store):
            guard let store else {
                throw StoreFailure(.unconfigured, "there is no \"store\" in \(Printable.name(path))")
            }
            return store
        case .failure(let refusal):
            throw StoreFailure(.unconfigured, refusal.diagnostics.first.map { Printable.clause($0.description) })
        }
    }
}

/// One store, its session and what is watched of it.
private final class Answerer {
    let client: StoreClient
    private var session: StoreSession

    init(configuration: StoreConfiguration, credentials: String?) throws(StoreFailure) {
        func path(_ file: StoreConfiguration.File) -> String? {
            let handed = credentials.map { $0 + "/" + file.credential }
            let standard = StoreConfiguration.File.directory + "/" + file.name
            return configuration.files[file] ?? [handed, standard].compactMap { $0 }.first(where: Self.exists)
        }
        let certificate = path(.certificate)
        let files = StoreFiles(ca: path(.ca), certificate: certificate, key: path(.key) ?? certificate)
        for file in [files.ca, files.certificate, files.key] {
            if let file, unsafe access(file, R_OK) != 0 {
                throw StoreFailure(.fileUnusable, "\(Printable.name(file)): \(ErrorNumber.words(for: errno))")
            }
        }
        guard let client = StoreClient(files: files) else {
            throw StoreFailure(.unreachable, "libcurl cannot be used")
        }
        self.client = client
        let password = path(.password)
        session = StoreSession(
            configuration, password: { Self.password(password) }, sha256: SHA256.digest, now: Clocks.bootMilliseconds,
            random: { Int64.random(in: 0..<$0) }, send: client.send)
    }

    func answer(_ question: StoreQuestion) -> StoreResult {
        let result = session.answer(question)
        guard case .read = question else { return result }
        if let watchable = session.watchable {
            if !client.isWatching(watchable) { client.begin(watchable) }
        } else {
            client.endWatch()
        }
        return result
    }

    private static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

    /// In bytes.
    private static let longestPassword = 4_096

    /// Read for each login, so that a new one counts without a restart.
    private static func password(_ path: String?) -> Result<String, StoreFailure> {
        guard let path else {
            return .failure(StoreFailure(.fileUnusable, "there is no \"password_file\" for the user"))
        }
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            return .failure(StoreFailure(.fileUnusable, "\(Printable.name(path)): \(ErrorNumber.words(for: errno))"))
        }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: longestPassword + 1)
        let count = unsafe read(descriptor, &buffer, buffer.count)
        guard count >= 0 else {
            return .failure(StoreFailure(.fileUnusable, "\(Printable.name(path)): \(ErrorNumber.words(for: errno))"))
        }
        var bytes = buffer[..<count]
        while bytes.last == UInt8(ascii: "\n") || bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        guard count <= longestPassword, !bytes.isEmpty, let text = String(validating: bytes, as: UTF8.self) else {
            return .failure(StoreFailure(.fileUnusable, "\(Printable.name(path)) holds no password"))
        }
        return .success(text)
    }
}

/// The lines of standard input.
private struct QuestionLines {
    private var rest: [UInt8] = []

    /// The next line without its end; nil once the input ends.
    ///
    /// - Parameter wait: waits for input, and returns what is to be said meanwhile.
    mutating func next(_ wait: () -> [StoreNotice]) throws -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                defer { rest.removeSubrange(...end) }
                return Array(rest[..<end])
            }
            guard rest.count <= StoreQuestion.longest else {
                throw ValidationError("a question is longer than \(StoreQuestion.longest) bytes")
            }
            let notices = wait()
            for notice in notices { try Output.answer(notice.line) }
            guard notices.isEmpty else { continue }
            let count = unsafe read(STDIN_FILENO, &buffer, buffer.count)
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count > 0 else { return nil }
            rest += buffer[..<count]
        }
    }
}
