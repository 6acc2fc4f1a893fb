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
        let answerer: StoreAnswerer
        do throws(RoleFailure) {
            answerer = try StoreAnswerer(configuration: configured())
        } catch {
            // Each request is answered with the reason.
            while (try lines.next({ [] })) != nil { try RoleOutput.answer(StoreAnswer(.failed(error))) }
            return
        }
        while let line = try lines.next(answerer.client.watch.wait) {
            guard let request = StoreRequest(line: line) else {
                throw ValidationError("a request is not a JSON object with \"do\" and its fields")
            }
            // The signal ends this process if something that no deadline of a request covers is stuck, such as reading a file.
            // Only then does systemd start another process for the daemon's next request.
            alarm(NetworkTimeouts.storeProcess)
            let answer = answerer.answer(request)
            alarm(0)
            try RoleOutput.answer(answer)
        }
    }

    private func configured() throws(RoleFailure) -> StoreConfiguration {
        let store = try configuration.part(.storeUnconfigured, ConfigurationLoader.store(path:adopted:as:))
        guard let store else {
            throw RoleFailure(.storeUnconfigured, "there is no \"store\" in \(Printable.name(configuration.path))")
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
            guard rest.count <= StoreRequest.longest else {
                throw ValidationError("a request is longer than \(StoreRequest.longest) bytes")
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
