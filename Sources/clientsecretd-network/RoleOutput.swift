import AppleClientSecret
import ArgumentParser
import Failures
import Glibc
import Linux

/// Writes a role's answer to standard output, and errors to standard error.
enum RoleOutput {
    /// The output of a role that passes a server's answer on, in the words of its help.
    static let ofRequest =
        #"Writes {"status", "date", "body"} or, without an answer, {"failure", "detail", "may_be_sent"}."#

    static func answer(_ document: some JSONDocument) throws {
        try answer(document.jsonText)
    }

    static func answer(_ text: JSONText) throws { try answer(text.bytes) }

    static func answer(help text: String) throws { try answer(Array(text.utf8)) }

    private static func answer(_ bytes: [UInt8]) throws {
        guard Descriptor.write(bytes + [UInt8(ascii: "\n")], to: STDOUT_FILENO) == nil else {
            throw ValidationError("the answer cannot be written")
        }
    }

    /// Writes `message` to standard error, without parts that may be a token pasted into the command line. Ignores a failure to
    /// do so.
    static func complain(_ message: String) {
        _ = Descriptor.write((Redaction.plain("clientsecretd-network: " + message) + "\n").utf8, to: STDERR_FILENO)
    }
}
