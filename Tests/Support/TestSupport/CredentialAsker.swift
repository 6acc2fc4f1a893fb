import Foundation

/// Asks for a unit's credential like a service manager. Asking waits for nothing; reading the answer does.
package final class CredentialAsker {
    private let socket: UnixSocket

    package enum Answer: Hashable, Sendable {
        case secret(String)
        /// More than 1 MiB: systemd fails the unit's start.
        case refusal
        /// No bytes: systemd starts the unit with nothing.
        case nothing
        /// The kernel says that the other end died; systemd fails the unit's start.
        case reset
    }

    /// - Parameter name: the abstract address without its NUL; by default systemd's for this unit and credential.
    package init(
        at path: String, unit: String = "", credential: String = "secret", from name: String? = nil
    ) throws {
        let random = UInt64.random(in: 0 ... .max)
        let digits = String(repeating: "0", count: 16) + String(random, radix: 16)
        socket = try unsafe UnixSocket(
            SOCK_STREAM, "@" + (name ?? "\(digits.suffix(16))/unit/\(unit)/\(credential)"), bind)
        try unsafe socket.attach(path, connect)
        // As systemd does.
        shutdown(socket.descriptor, Int32(SHUT_WR))
    }

    package func hangUp() {
        shutdown(socket.descriptor, Int32(SHUT_RDWR))
    }

    /// Reads the answer to its end, for a minute at most.
    package func answer() throws -> Answer {
        var timeout = timeval(tv_sec: 60, tv_usec: 0)
        unsafe setsockopt(socket.descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        var all = Data()
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = unsafe recv(socket.descriptor, &buffer, buffer.count, 0)
            if count < 0, errno == ECONNRESET { return .reset }
            guard count >= 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
            if count == 0 { break }
            all += buffer.prefix(count)
        }
        if all.isEmpty { return .nothing }
        return all.count > 1 << 20 ? .refusal : .secret(String(decoding: all, as: UTF8.self))
    }
}
