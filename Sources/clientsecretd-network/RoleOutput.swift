import AppleClientSecret
import ArgumentParser
import Failures
import Glibc
import Linux

/// Writes a role's answer to standard output, and errors to standard error.
enum RoleOutput {
    /// What a role writes that passes a server's answer on, for its help.
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

    /// Writes `message` to standard error, without what may be a token that was pasted into the command line; a failure to do
    /// so is ignored.
    static func complain(_ message: String) {
        _ = Descriptor.write((Redaction.plain("clientsecretd-network: " + message) + "\n").utf8, to: STDERR_FILENO)
    }
}
