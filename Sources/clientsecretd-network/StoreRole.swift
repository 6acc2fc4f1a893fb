import AppleClientSecret
import ArgumentParser
import Config
import Failures
import Glibc
import Keys
import Linux
import SignIn
import Store

/// `store`: reads and puts values in etcd, for as long as standard input is open.
struct StoreRole: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store",
        abstract: "Read and write client secrets, rollouts and machines' reports in etcd.",
        discussion: """
            Reads one request on each line and answers each with a line. It also writes lines with a 'notice' when \
            etcd has changed. The configuration has the address, under 'store'. It ends with its input. \
            fleet-protocol.md describes requests and answers.

            Examples:
              clientsecretd-network store <requests
              systemctl enable --now clientsecretd-store.socket
            """)

    /// In seconds: longer than the daemon waits for an answer.
    private static let longestAnswer: UInt32 = 100

    @OptionGroup var configuration: ConfigurationOption

    func run() throws {
        // A write to a reader that is gone fails with an error instead of ending the process.
        signal(SIGPIPE, SIG_IGN)
        try RoleInput.takeConnection()
        var lines = QuestionLines()
        let answerer: Answerer
        do throws(RoleFailure) {
            answerer = try Answerer(configuration: configured())
        } catch {
            // Each question is answered with the reason.
            while (try lines.next({ [] })) != nil { try RoleOutput.answer(StoreResult.failed(error).answer) }
            return
        }
        while let line = try lines.next(answerer.client.wait) {
            guard let question = StoreQuestion(request: line) else {
                throw ValidationError("a request is not a JSON object with \"do\" and its fields")
            }
            // The signal ends this process if something that no deadline of a request covers is stuck, such as reading a file:
            // only then does systemd start another process for the daemon's next question.
            alarm(Self.longestAnswer)
            let answer = answerer.answer(question)
            alarm(0)
            try RoleOutput.answer(answer.line)
        }
    }

    private func configured() throws(RoleFailure) -> StoreConfiguration {
        switch ConfigurationLoader.store(path: configuration.path, adopted: configuration.adopted, as: .current()) {
        case .success(let store):
            guard let store else {
                throw RoleFailure(.storeUnconfigured, "there is no \"store\" in \(Printable.name(configuration.path))")
            }
            return store
        case .failure(let refusal):
            throw RoleFailure(.storeUnconfigured, refusal.headline.map { Printable.clause($0.description) })
        }
    }
}

/// Answers questions from one store, with its session and its watch.
private final class Answerer {
    let client: StoreClient
    private var session: StoreSession
    /// The file with this machine's certificate; nil without one.
    private let certificate: String?

    init(configuration: StoreConfiguration) throws(RoleFailure) {
        func path(_ file: StoreConfiguration.File) -> String? {
            // LoadCredential=store:DIRECTORY names the credentials `store_` and the file's name.
            let handed = [file.credential, "store_" + file.name].map(CredentialFiles.path)
            let standard = StoreConfiguration.File.directory + "/" + file.name
            // In the service's sandbox the standard place is hidden: its files are there as credentials only.
            let named = configuration.files[file].flatMap { $0 == standard ? nil : $0 }
            return named ?? (handed + [standard]).compactMap { $0 }.first(where: Self.exists)
        }
        let certificate = path(.certificate)
        let files = StoreTLSFiles(ca: path(.ca), certificate: certificate, key: path(.key) ?? certificate)
        for file in [files.ca, files.certificate, files.key] {
            guard let file else { continue }
            guard unsafe access(file, R_OK) == 0 else {
                throw RoleFailure(.storeFileUnusable, "\(Printable.name(file)): \(ErrorNumber.words(for: errno))")
            }
            // libcurl would wait for a FIFO's other end.
            guard FileStatus.following(file)?.kind == .regular else {
                throw RoleFailure(.storeFileUnusable, "\(Printable.name(file)) is not a regular file")
            }
        }
        guard let client = StoreClient(files: files) else {
            throw RoleFailure(.storeUnreachable, "libcurl cannot be used")
        }
        self.client = client
        self.certificate = certificate
        let password = path(.password)
        session = StoreSession(
            configuration, password: { Self.password(at: password) },
            now: Clocks.bootMilliseconds,
            random: { Int64.random(in: 0..<$0) }, send: client.send)
    }

    func answer(_ question: StoreQuestion) -> StoreAnswer {
        // Read each time: it may have been replaced, and the next connection uses the new one.
        let pem = certificate.flatMap { try? CredentialFiles.text(at: $0) }
        let answer = StoreAnswer(
            session.answer(question), certificateExpiresAt: pem.flatMap { Certificate(pem: $0)?.expiresAt })
        guard case .read = question else { return answer }
        if let watchable = session.watchable {
            if !client.isWatching(watchable) { client.begin(watchable) }
        } else {
            client.endWatch()
        }
        return answer
    }

    private static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

    /// Read for each login.
    private static func password(at path: String?) -> Result<String, RoleFailure> {
        guard let path else {
            return .failure(RoleFailure(.storeFileUnusable, "there is no \"password_file\" for the user"))
        }
        do throws(CredentialFiles.Unusable) {
            return .success(try CredentialFiles.text(at: path))
        } catch {
            return .failure(RoleFailure(.storeFileUnusable, error.words))
        }
    }
}

/// The lines of standard input.
private struct QuestionLines {
    private var rest = LineBuffer()

    /// The next line without its end; nil once the input ends.
    ///
    /// - Parameter wait: waits for input, and returns notices that have to be written first.
    mutating func next(_ wait: () -> [StoreNotice]) throws -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            if let line = rest.next() { return line }
            guard rest.count <= StoreQuestion.longest else {
                throw ValidationError("a request is longer than \(StoreQuestion.longest) bytes")
            }
            let notices = wait()
            for notice in notices { try RoleOutput.answer(notice.line) }
            guard notices.isEmpty else { continue }
            let count = unsafe read(STDIN_FILENO, &buffer, buffer.count)
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count > 0 else { return nil }
            rest.append(buffer[..<count])
        }
    }
}
