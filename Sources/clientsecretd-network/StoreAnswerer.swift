import AppleClientSecret
import Config
import Failures
import Glibc
import Keys
import Linux
import Store

/// Answers requests from one store, with its session and its watch.
final class StoreAnswerer {
    let client: StoreClient
    private var session: StoreSession
    /// The file with this machine's certificate; nil without one.
    private let certificate: String?

    init(configuration: StoreConfiguration) throws(RoleFailure) {
        func path(_ file: StoreConfiguration.File) -> String? {
            // LoadCredential=store:DIRECTORY names the credentials `store_` and the file's name.
            let handed = [file.credential, "store_" + file.name].map(PassedCredentials.path)
            let standard = StoreConfiguration.File.directory + "/" + file.name
            // In the service's sandbox the standard place is hidden: its files are there as credentials only.
            let named = configuration.files[file].flatMap { $0 == standard ? nil : $0 }
            return named ?? (handed + [standard]).compactMap { $0 }.first(where: Self.exists)
        }
        let certificate = path(.certificate)
        let files = StoreTLSFiles(ca: path(.ca), certificate: certificate, key: path(.key) ?? certificate)
        // libcurl reads these, and would wait for a FIFO's other end.
        do throws(LoginFile.Unusable) {
            if let file = files.ca { try CAFile.check(at: file, as: .current()) }
            for case let file? in [files.certificate, files.key] {
                _ = try LoginFile.text(at: file, as: .current())
            }
        } catch {
            throw Self.failure(error)
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

    func answer(_ request: StoreRequest) -> StoreAnswer {
        // Read each time: it may have been replaced, and the next connection uses the new one.
        let pem = certificate.flatMap { try? LoginFile.text(at: $0, as: .current()) }
        let answer = StoreAnswer(
            session.answer(request), certificateExpiresAt: pem.flatMap { Certificate(pem: $0)?.expiresAt })
        guard case .read = request else { return answer }
        if let watchable = session.watchable {
            if !client.watch.isAlive(for: watchable) { client.begin(watchable) }
        } else {
            client.watch.end()
        }
        return answer
    }

    private static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

    /// Read for each login.
    private static func password(at path: String?) -> Result<String, RoleFailure> {
        guard let path else {
            return .failure(RoleFailure(.storeFileUnusable, "there is no \"password_file\" for the user"))
        }
        do throws(LoginFile.Unusable) {
            return .success(try LoginFile.secret(at: path, as: .current()))
        } catch {
            return .failure(failure(error))
        }
    }

    private static func failure(_ error: LoginFile.Unusable) -> RoleFailure {
        RoleFailure(error.isUnguarded ? .storeFileNotGuarded : .storeFileUnusable, error.words)
    }
}
