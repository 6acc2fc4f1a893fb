import AppleClientSecret
import ArgumentParser
import Config
import Failures
import Glibc
import Linux
import Store

/// `store`: reads and puts values in etcd until standard input is closed.
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

    @OptionGroup var configuration: RoleConfigurationOption

    func run() throws {
        // A write to a reader that is gone fails with an error instead of ending the process.
        signal(SIGPIPE, SIG_IGN)
        try RoleInput.takeConnection()
        var lines = RequestLines()
        // The first request says which store the daemon means. If it cannot be used, each request is answered with the reason.
        var started: Result<StoreAnswerer, RoleFailure>?
        while let line = try lines.next({ (try? started?.get())?.client.watch.wait() ?? [] }) {
            guard let request = StoreRoleRequest(line: line) else {
                throw ValidationError("a request is not a JSON object with \"do\" and its fields")
            }
            // The signal ends this process if something that no deadline of a request covers is stuck, such as reading a file.
            // Only then does systemd start another process for the daemon's next request.
            alarm(NetworkTimeouts.storeProcess)
            let known = started ?? start(for: request.store)
            started = known
            let answer: StoreAnswer
            switch known {
            case .success(let answerer): answer = answerer.answer(request.request)
            case .failure(let failure): answer = StoreAnswer(.failed(failure))
            }
            alarm(0)
            try RoleOutput.answer(answer)
        }
    }

    private func start(for place: String?) -> Result<StoreAnswerer, RoleFailure> {
        Result { () throws(RoleFailure) in try StoreAnswerer(configuration: configured(for: place)) }
    }

    /// - Parameter place: of the store that the daemon means; nil for the one in the role's own file.
    private func configured(for place: String?) throws(RoleFailure) -> StoreConfiguration {
        func isMeant(_ store: StoreConfiguration?) -> Bool { place == nil || store?.place == place }
        let store = try configuration.part(.storeUnconfigured) { path, adopted, identity in
            ConfigurationLoader.store(path: path, adopted: adopted, as: identity, where: isMeant)
        }
        guard let store else {
            throw RoleFailure(.storeUnconfigured, "there is no \"store\" in \(Printable.name(configuration.path))")
        }
        // An edited text that the daemon refuses, or has not loaded, sends no secret to another store.
        guard isMeant(store) else {
            throw RoleFailure(
                .storeUnconfigured,
                "\(Printable.name(configuration.path)) names another store than the configuration that the daemon uses")
        }
        return store
    }
}

/// The lines of standard input.
private struct RequestLines {
    private var rest = LineBuffer()

    /// The next line without its end; nil once the input ends.
    ///
    /// - Parameter wait: waits for input, and returns notices that have to be written first.
    mutating func next(_ wait: () -> [StoreWatchNotice]) throws -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            if let line = rest.next() { return line }
            guard rest.count <= StoreRoleRequest.longest else {
                throw ValidationError("a request is longer than \(StoreRoleRequest.longest) bytes")
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
