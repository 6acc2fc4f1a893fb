import Foundation

/// Asks for a unit's credential like a service manager. Asking waits for nothing; reading the answer does.
package final class CredentialAsker {
    private let descriptor: Int32

    package enum Answer: Hashable, Sendable {
        case secret(String)
        /// More than 1 MiB: systemd fails the unit's start.
        case refusal
        /// No bytes: systemd starts the unit with nothing.
        case nothing
        /// The kernel says that the other end died; systemd fails the unit's start.
        case reset
    }

    package struct Failure: Error {
        let call: String
        let code: Int32
    }

    /// - Parameters:
    ///   - name: the abstract address without its NUL; by default systemd's for this unit and credential.
    ///   - isDone: whether to shut down the sending side at once, as systemd does.
    package init(
        at path: String, unit: String = "", credential: String = "secret", from name: String? = nil,
        isDone: Bool = true
    ) throws {
        let random = UInt64.random(in: 0 ... .max)
        let digits = String(repeating: "0", count: 16) + String(random, radix: 16)
        let address = name ?? "\(digits.suffix(16))/unit/\(unit)/\(credential)"
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        try unsafe check("bind", [0] + Array(address.utf8)) { unsafe bind($0, $1, $2) }
        try unsafe check("connect", Array(path.utf8)) { unsafe connect($0, $1, $2) }
        if isDone { shutdown(descriptor, Int32(SHUT_WR)) }
    }

    deinit {
        close(descriptor)
    }

    package func hangUp() {
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    /// Reads the answer to its end, for a minute at most.
    package func answer() throws -> Answer {
        var timeout = timeval(tv_sec: 60, tv_usec: 0)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        var all = Data()
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
            if count < 0, errno == ECONNRESET { return .reset }
            guard count >= 0 else { throw Failure(call: "recv", code: errno) }
            if count == 0 { break }
            all += buffer.prefix(count)
        }
        if all.isEmpty { return .nothing }
        return all.count > 1 << 20 ? .refusal : .secret(String(decoding: all, as: UTF8.self))
    }

    private func check(
        _ call: String, _ path: [UInt8], _ body: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) throws {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        guard path.count <= 108 else { throw Failure(call: call, code: ENAMETOOLONG) }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + path.count)
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body(descriptor, $0, length) }
        }
        guard result == 0 else { throw Failure(call: call, code: errno) }
    }
}
