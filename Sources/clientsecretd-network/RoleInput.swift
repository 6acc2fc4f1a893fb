import AppleAPI
import AppleClientSecret
import ArgumentParser
import Failures
import Glibc
import Linux

/// Reads a role's request from standard input.
enum RoleInput {
    /// In bytes: a client secret, a code or token of up to 64 KiB that the commands accept, and their encoding.
    private static let longestForm = 131_072

    /// If systemd has passed a listening socket (sd_listen_fds(3)), accepts one connection and makes it standard input and
    /// output. Further connections are served by further processes, to which systemd passes the configuration and the token of
    /// that time.
    static func takeConnection() throws {
        guard let passed = unsafe getenv("LISTEN_PID"), unsafe String(cString: passed) == String(getpid()) else {
            return
        }
        guard Descriptor.ready([Self.passedSocket], atMost: NetworkTimeouts.accepting) == [true] else {
            throw ExitCode.success
        }
        let connection = accept(Self.passedSocket, nil, nil)
        guard connection >= 0, dup2(connection, STDIN_FILENO) >= 0, dup2(connection, STDOUT_FILENO) >= 0 else {
            throw ValidationError("no connection came: \(ErrorNumber.words(for: errno))")
        }
        close(connection)
    }

    /// The first descriptor that systemd passes.
    private static let passedSocket: Int32 = 3

    /// Reads to the end of the line, or of the input: at least one byte, and `limit` at most.
    static func read(limit: Int) throws -> [UInt8] {
        let deadline = Deadline(in: NetworkTimeouts.input)
        var bytes: [UInt8] = []
        while true {
            // Input that the deadline cuts off is no request.
            guard let more = try? Descriptor.read(STDIN_FILENO, until: deadline) else { break }
            let end = more.firstIndex(of: UInt8(ascii: "\n"))
            bytes += more[..<(end ?? more.endIndex)]
            guard bytes.count <= limit else { throw ValidationError("the request is longer than \(limit) bytes") }
            if end == nil, !more.isEmpty { continue }
            guard !bytes.isEmpty else { break }
            return bytes
        }
        throw ValidationError("no request came on standard input")
    }

    /// Reads a JSON object of strings: the fields of a form.
    static func form() throws -> [FormEncoding.Field] {
        let bytes = try read(limit: longestForm)
        guard let json = try? JSONValue(bytes),
            case .object(let members) = json
        else { throw ValidationError("the request is not a JSON object") }
        return try members.sorted { $0.key < $1.key }.map { name, value in
            guard let text = value.text else { throw ValidationError("a field of the request is not text") }
            return (name, text)
        }
    }
}
