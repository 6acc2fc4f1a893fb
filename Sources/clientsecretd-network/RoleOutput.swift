import AppleClientSecret
import ArgumentParser
import Failures
import Glibc

/// Writes a role's answer to standard output, and errors to standard error.
enum RoleOutput {
    static func answer(_ json: JSONText) throws {
        try write(json.bytes + [UInt8(ascii: "\n")], to: STDOUT_FILENO)
    }

    /// Writes `message` to standard error; a failure to do so is ignored.
    static func complain(_ message: String) {
        try? write(Array((Printable.lines("clientsecretd-network: " + message) + "\n").utf8), to: STDERR_FILENO)
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw ValidationError("the answer cannot be written") }
            rest = rest.dropFirst(count)
        }
    }
}
